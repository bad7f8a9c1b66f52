/** The functions that read. */
import { attributes, guardSql, nowSql, operationColumns } from './functions-sql.ts';
import { headChars, never } from './tables-sql.ts';

/** Most amounts that one step reads to compute when amounts fit that do not fit now. */
export const maxLooked = 20_000;

/** The operations that read, in a step of any kind. */
export const readsSql = (s: string): string => `
      when 'get' then v_answer := ${s}.documents_of(v_space, o.keys, v_now)::text;
      when 'list' then
        v_answer := ${s}.list_of(v_space, o.list, o.after, o.name, o."limit", o.bytes, v_now)::text;
      when 'read' then v_answer := ${s}.entries_of(v_space, o.key, o.after, o."limit")::text;
      when 'sum' then
        select u.p_looks, u.answer::text into v_looks, v_answer
        from ${s}.use_of(v_space, o.key, o.amount, o.max, o.win, v_now, v_looks) u;`;

/**
 * Each of these sees what the statement sees that calls it: in a step that writes, what came
 * before; in a step that only reads, one moment for all of it. Longer than 60 lines, since these
 * are functions of SQL.
 */
export const readSql = (s: string): string => `
create function ${s}.document(p_space text, p_key text, p_now bigint) returns json
language sql stable security invoker as $$
  select json_build_object('value', d.value, 'version', d.version,
    'left', case when d.ends < ${never} then d.ends - p_now end)
  from ${s}.documents d where d.space = p_space and d.key = p_key and d.ends > p_now
$$;

create function ${s}.documents_of(p_space text, p_keys text[], p_now bigint) returns json
language sql stable security invoker as $$
  select coalesce(json_agg(${s}.document(p_space, k.key, p_now) order by k.place), '[]')
  from unnest(p_keys) with ordinality k (key, place)
$$;

create function ${s}.list_of(
  p_space text, p_list text, p_after bigint, p_name text, p_limit bigint, p_bytes bigint,
  p_now bigint
) returns json language plpgsql stable security invoker as $$
declare v_after bigint := p_after; v_name text := p_name; v_found json;
begin
  if v_after is null or v_after <= p_now then v_after := p_now + 1; v_name := ''; end if;
  select json_agg(json_build_object(
    'name', coalesce(l.name, l.key), 'version', d.version,
    'value', case when p_bytes is null then d.value
      -- A character has at least one byte, and one that is written as two has both.
      when strpos(left(d.value, p_bytes::integer), chr(1)) > 0
        then left(d.value, 2 * p_bytes::integer)
      else left(d.value, p_bytes::integer) end,
    'ends', case when l.ends < ${never} then l.ends end,
    'left', case when l.ends < ${never} then l.ends - p_now end
  ) order by l.ends, left(coalesce(l.name, l.key), ${headChars}), coalesce(l.name, l.key))
  into v_found
  from (
    select * from ${s}.listed i where i.space = p_space and i.list = p_list
      and (i.ends, left(coalesce(i.name, i.key), ${headChars}), coalesce(i.name, i.key))
        > (v_after, left(v_name, ${headChars}), v_name)
    order by i.ends, left(coalesce(i.name, i.key), ${headChars}), coalesce(i.name, i.key)
    limit p_limit
  ) l join ${s}.documents d on d.space = p_space and d.key = l.key;
  return coalesce(v_found, '[]');
end $$;

create function ${s}.entries_of(p_space text, p_log text, p_after bigint, p_limit bigint)
returns json language plpgsql stable security invoker as $$
declare l record; v_found json;
begin
  select number, first, last into l from ${s}.logs where space = p_space and log = p_log;
  if not found then return '{"first":0,"last":0,"entries":[]}'; end if;
  if p_limit > 0 and p_after < l.last then
    select json_agg(json_build_object('id', e.id, 'value', e.value) order by e.id) into v_found
    from (
      select id, value from ${s}.entries where log = l.number and id > p_after
      order by id limit p_limit
    ) e;
  end if;
  return json_build_object('first', l.first, 'last', l.last, 'entries', coalesce(v_found, '[]'));
end $$;

-- What is used of a sum, and when an amount fits. It may look at so many amounts.
create function ${s}.use_of(
  p_space text, p_key text, p_amount numeric, p_max numeric, p_win bigint, p_now bigint,
  inout p_looks bigint, out answer json
) language plpgsql stable security invoker as $$
declare
  s record; v_total numeric := 0; v_moment bigint := p_now; v_wait bigint; v_seen bigint;
begin
  select * into s from ${s}.sums where space = p_space and key = p_key;
  if found then
    v_moment := greatest(p_now, s.at);
    if p_win is null then
      if s.ends > p_now then v_total := s.total; end if;
    elsif s.at > v_moment - p_win then
      select s.total - coalesce(sum(a.amount), 0) into v_total from ${s}.amounts a
      where a.sum = s.number and a.started > s.gone and a.started <= v_moment - p_win
        and a.at <= v_moment - p_win;
    end if;
  end if;
  if p_max is null or v_total + p_amount <= p_max then v_wait := 0;
  elsif p_win is not null and p_amount <= p_max then
    select min(b.at) filter (where v_total - b.until + p_amount <= p_max), count(*)
    into v_wait, v_seen from (
      select a.at, sum(a.amount) over (order by a.started) as until from ${s}.amounts a
      where a.sum = s.number and a.started > s.gone and a.at > v_moment - p_win
      order by a.started limit p_looks
    ) b;
    p_looks := greatest(p_looks - v_seen, 0);
    v_wait := greatest(coalesce(v_wait, s.at) + p_win - p_now, 1);
  end if;
  answer := json_build_object('used', v_total::text, 'wait', v_wait);
end $$;

-- A step that only reads: all of it at one moment, and without a lock.
create function ${s}.read(p_version integer, p_session boolean, p_space text, p_ops json)
returns text ${attributes('stable')} as $$
declare
  v_now bigint := ${nowSql};
  v_space text := 'shared:' || p_space;
  v_results text[]; v_looks bigint := ${maxLooked};
  o record; i integer := 0; v_answer text;
begin${guardSql(s)}
  if p_session then
    v_space := null;
    select 'session:' || number into v_space from ${s}.sessions
    where name = p_space and ends > v_now;
  end if;
  for o in select * from json_to_recordset(p_ops) as (${operationColumns}) loop
    i := i + 1;
    case o.op${readsSql(s)}
    end case;
    v_results[i] := v_answer;
  end loop;
  return '{"results":[' || array_to_string(v_results, ',') || ']}';
end $$;
`;
