-- What the topic holds against what the table and the ledger hold; one figure a row. {records} are the topic's values.
create temp table produced (record jsonb);
\copy produced from stdin with (format csv, delimiter E'\x01', quote E'\x02')
{records}
\.
create temp view expected (id, customer, amount, placed) as
select (record ->> 'id')::bigint, record ->> 'customer', (record ->> 'amount')::numeric,
  timestamptz 'epoch' + (record ->> 'placed')::bigint * interval '1 ms'
from produced;

select 'produced', count(*) from produced
union all select 'produced ids', count(distinct record -> 'id') from produced
union all select 'rows', count(*) from orders
union all select 'ids', count(distinct id) from orders
union all select 'ledger', sum(next_offset) from sluice_ledger
union all select 'lost or changed', count(*) from (table expected except all table orders) as missing
union all select 'foreign or changed', count(*) from (table orders except all table expected) as foreign_rows;
