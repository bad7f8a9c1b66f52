/** The functions that remove what is over, and those of items that are due. */
import { attributes, guardSql, nowSql } from './functions-sql.ts';
import { never } from './tables-sql.ts';

/** Most rows that one step of expiry removes. */
export const maxExpired = 500;

/**
 * Removes rows of one kind. It never waits: what somebody else works on is left for the next time,
 * so any number of processes may do this at once. Longer than 60 lines, since these are
 * functions of SQL.
 */
const removalsSql = (s: string): string => `
create function ${s}.expire_documents(p_now bigint, p_limit integer) returns integer
language plpgsql volatile security invoker as $$
declare v_removed integer;
begin
  with locked as (
    select space, key, ends, lists from ${s}.documents where ends <= p_now and ends < ${never}
    order by ends limit p_limit for update skip locked
  ), chosen as (
    select * from (
      select *, sum(1 + coalesce(cardinality(lists), 0)) over (order by ends, space, key) as rows
      from locked
    ) counted where rows <= p_limit
  ), unlisted as (
    delete from ${s}.listed l using chosen c, unnest(c.lists) n (list)
    where l.space = c.space and l.list = n.list and l.ends = c.ends and l.key = c.key returning 1
  ), removed as (
    delete from ${s}.documents d using chosen c
    where d.space = c.space and d.key = c.key returning 1
  ) select (select count(*) from unlisted) + (select count(*) from removed) into v_removed;
  return v_removed;
end $$;

-- The oldest amounts, with the sums that they still count in.
create function ${s}.expire_amounts(p_now bigint, p_limit integer) returns integer
language plpgsql volatile security invoker as $$
declare a record; s record; v_removed integer := 0; v_counted numeric; v_amounts integer; n integer;
begin
  for a in
    select o.sum, max(o.started) as last from (
      select sum, started from ${s}.amounts where ends <= p_now order by ends limit p_limit
    ) o group by o.sum
  loop
    select gone into s from ${s}.sums where number = a.sum for update skip locked;
    -- Locked by a step, which will be over soon.
    continue when not found and exists (select from ${s}.sums where number = a.sum);
    with removed as (
      delete from ${s}.amounts where sum = a.sum and started <= a.last and ends <= p_now
      returning started, amount
    ) select count(*), sum(amount) filter (where started > s.gone),
      count(*) filter (where started > s.gone) into n, v_counted, v_amounts from removed;
    v_removed := v_removed + n;
    if v_amounts > 0 then
      update ${s}.sums set total = total - v_counted, amounts = amounts - v_amounts
      where number = a.sum;
    end if;
  end loop;
  return v_removed;
end $$;

-- What is in a session that is over, and the session once nothing is in it.
create function ${s}.expire_sessions(p_now bigint, p_limit integer) returns integer
language plpgsql volatile security invoker as $$
declare v record; l record; v_space text; v_left integer := p_limit; n integer;
begin
  for v in
    select number, name from ${s}.sessions where ends <= p_now
    order by ends limit p_limit for update skip locked
  loop
    exit when v_left <= 0;
    if v.name is not null then
      continue when not pg_try_advisory_xact_lock(
        hashtextextended(true || v.name, hashtextextended('${s}', 0)));
      update ${s}.sessions set name = null where number = v.number;
    end if;
    v_space := 'session:' || v.number;
    delete from ${s}.documents where (space, key) in (
      select space, key from ${s}.documents where space = v_space limit v_left);
    get diagnostics n = row_count; v_left := v_left - n;
    delete from ${s}.counters where (space, key) in (
      select space, key from ${s}.counters where space = v_space limit v_left);
    get diagnostics n = row_count; v_left := v_left - n;
    for l in select log, number from ${s}.logs where space = v_space limit v_left loop
      delete from ${s}.entries where log = l.number and id in (
        select id from ${s}.entries where log = l.number order by id limit v_left);
      get diagnostics n = row_count; v_left := v_left - n;
      exit when v_left <= 0;
      delete from ${s}.logs where space = v_space and log = l.log;
      v_left := v_left - 1;
    end loop;
    exit when v_left <= 0;
    delete from ${s}.sessions where number = v.number;
    v_left := v_left - 1;
  end loop;
  return p_limit - v_left;
end $$;
`;

/** Each returns as text what the caller reads. */
export const expireSql = (s: string): string => `${removalsSql(s)}
create function ${s}.expire(p_version integer, p_limit integer) returns text
${attributes('volatile')} as $$
declare v_now bigint := ${nowSql}; v_left integer := p_limit; n integer;
begin${guardSql(s)}
  v_left := v_left - ${s}.expire_documents(v_now, v_left);
  delete from ${s}.counters where (space, key) in (
    select space, key from ${s}.counters where ends <= v_now
    order by ends limit v_left for update skip locked);
  get diagnostics n = row_count; v_left := v_left - n;
  if v_left > 0 then v_left := v_left - ${s}.expire_amounts(v_now, v_left); end if;
  delete from ${s}.sums where (space, key) in (
    select space, key from ${s}.sums where ends <= v_now
    order by ends limit v_left for update skip locked);
  get diagnostics n = row_count; v_left := v_left - n;
  if v_left > 0 then v_left := v_left - ${s}.expire_sessions(v_now, v_left); end if;
  return p_limit - v_left;
end $$;

create function ${s}.schedule(
  p_version integer, p_alone boolean, p_locks text[], p_wait integer,
  p_items json, p_delay bigint, p_done json
) returns text ${attributes('volatile')} as $$
declare v_now bigint;
begin${guardSql(s)}
  perform ${s}.take_locks(hashtextextended('items', hashtextextended('${s}', 0)),
    p_alone, p_locks, p_wait);
  delete from ${s}.items i using json_to_recordset(p_done) as d (owner text, key text)
  where i.owner = d.owner and i.key = d.key;
  v_now := ${nowSql};
  insert into ${s}.items (owner, key, due)
  select distinct owner collate "C", key collate "C", v_now + p_delay
  from json_to_recordset(p_items) as (owner text, key text) order by 1, 2
  on conflict (owner, key) do update set due = excluded.due;
  return '';
end $$;

create function ${s}.due(p_version integer, p_limit integer, p_delay bigint) returns text
${attributes('volatile')} as $$
declare v_now bigint := ${nowSql}; v_found json;
begin${guardSql(s)}
  with taken as (
    select owner, key, due from ${s}.items where due <= v_now
    order by due limit p_limit for update skip locked
  ), moved as (
    update ${s}.items i set due = v_now + p_delay from taken t
    where i.owner = t.owner and i.key = t.key returning i.owner, i.key, t.due
  ) select json_agg(json_build_object('owner', owner, 'key', key) order by due) into v_found
  from moved;
  return coalesce(v_found, '[]');
end $$;
`;
