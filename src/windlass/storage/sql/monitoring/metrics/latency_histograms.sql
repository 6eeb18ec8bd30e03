-- How long jobs waited and ran, since ever. It never falls.
select kind, queue, definition, upto_ms, observed, seconds
from windlass_histograms where minute = {epoch}
