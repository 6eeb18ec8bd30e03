-- Lifetime histograms of waits and runs. They never fall.
select kind, queue, definition, upto_ms, observed, seconds
from windlass_histograms where span = 0
