-- Deletes the oldest slot of a length that began more than :days ago.
delete from windlass_histograms
where span = {int :span} and slot < {now} - {days :days} and slot = (
    select oldest from (
        select min(slot) as oldest from windlass_histograms where span = {int :span}
    ) f
)
returning queue
