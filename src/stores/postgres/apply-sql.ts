/** The function that carries out a step that writes. */
import { attributes, guardSql, nowSql, operationColumns, raised } from './functions-sql.ts';
import { maxLooked, readsSql } from './read-sql.ts';
import { sumsSql } from './sums-sql.ts';
import { headChars, never } from './tables-sql.ts';

/** The lists of a document change. */
const relistSql = (s: string): string => `
create function ${s}.relist(
  p_space text, p_key text, p_name text,
  p_old text[], p_old_ends bigint, p_new text[], p_ends bigint
) returns void language plpgsql volatile security invoker as $$
begin
  if p_old is not null then
    delete from ${s}.listed l using unnest(p_old) o (list)
    where l.space = p_space and l.list = o.list and l.ends = p_old_ends
      and left(coalesce(l.name, l.key), ${headChars}) = left(p_key, ${headChars}) and l.key = p_key;
  end if;
  if p_new is not null then
    insert into ${s}.listed (space, list, ends, key, name)
    select p_space, n.list, p_ends, p_key, p_name from unnest(p_new) n (list);
  end if;
end $$;
`;

/**
 * The operations that write, one by one. Those that do not fit raise, which undoes the others.
 * Longer than 60 lines, since each is a few statements.
 */
const operationsSql = (s: string): string => `
      when 'set' then
        select version, ends, lists into d from ${s}.documents
        where space = v_space and key = o.key;
        v_lives := found and d.ends > v_now;
        if o.version is not null and o.version <> (case when v_lives then d.version else 0 end) then
          v_found := ${s}.document(v_space, o.key, v_now);
          raise exception using errcode = '${raised.refused}';
        end if;
        v_ends := coalesce(o.ends, v_now + o.ttl, ${never});
        -- The row may have gone meanwhile, by expiry.
        insert into ${s}.documents as t (space, key, value, version, ends, lists)
        values (v_space, o.key, o.value, nextval('${s}.numbers'), v_ends, o.lists)
        on conflict (space, key) do update set value = excluded.value, version = excluded.version,
          ends = excluded.ends, lists = excluded.lists
        returning t.version::text into v_answer;
        if d.lists is not null or o.lists is not null then
          perform ${s}.relist(v_space, o.key, o.name, d.lists, d.ends, o.lists, v_ends);
        end if;
      when 'touch' then
        select version, ends, lists into d from ${s}.documents
        where space = v_space and key = o.key and ends > v_now and version = o.version;
        v_ends := v_now + o.ttl;
        if found then
          update ${s}.documents set ends = v_ends where space = v_space and key = o.key;
        end if;
        if not found then
          v_found := ${s}.document(v_space, o.key, v_now);
          raise exception using errcode = '${raised.refused}';
        end if;
        if d.lists is not null then
          perform ${s}.relist(v_space, o.key, o.name, d.lists, d.ends, d.lists, v_ends);
        end if;
      when 'delete' then
        delete from ${s}.documents where space = v_space and key = o.key
          and (o.version is null or version = o.version) returning ends, lists into d;
        v_lives := found and d.ends > v_now;
        if found and d.lists is not null then
          perform ${s}.relist(v_space, o.key, null, d.lists, d.ends, null, null);
        end if;
        if o.required and not v_lives then
          v_found := ${s}.document(v_space, o.key, v_now);
          raise exception using errcode = '${raised.refused}';
        end if;
        v_answer := v_lives::text;
      when 'append' then
        insert into ${s}.logs as l (space, log, number, first, last)
        values (v_space, o.key, nextval('${s}.numbers'), 1, 1)
        on conflict (space, log) do update set last = l.last + 1
        returning number, first, last into d;
        if o.after <> d.last - 1 then raise exception using errcode = '${raised.refused}'; end if;
        insert into ${s}.entries (log, id, value) values (d.number, d.last, o.value);
        v_dropped := null;
        if d.last - d.first >= o.keep then
          with gone as (
            delete from ${s}.entries where log = d.number and id <= d.last - o.keep
            returning id, value
          ) select json_agg(value order by id) into v_dropped from gone;
          update ${s}.logs set first = d.last - o.keep + 1 where space = v_space and log = o.key;
        end if;
        v_answer := json_build_object('id', d.last, 'dropped', coalesce(v_dropped, '[]'));
      when 'count' then
        select used, ends into d from ${s}.counters where space = v_space and key = o.key;
        if found and d.ends > v_now then
          if d.used >= o."limit" then
            v_wait := d.ends - v_now;
            raise exception using errcode = '${raised.refused}';
          end if;
          update ${s}.counters set used = used + 1 where space = v_space and key = o.key;
        else
          insert into ${s}.counters (space, key, used, ends)
          values (v_space, o.key, 1, v_now + o.win)
          on conflict (space, key) do update set used = 1, ends = excluded.ends;
        end if;
      when 'add' then
        v_answer := ${s}.add_to(v_space, o.key, o.amount, o.max, o.win, v_now);
        if v_answer is null then raise exception using errcode = '${raised.refused}'; end if;
        v_answer := to_json(v_answer);
      when 'subtract' then
        perform ${s}.take_back(v_space, o.key, o.amount, o.number, o.started, v_now);
      when 'publish' then
        perform pg_notify(o.channel, o.message ||
          case when o."versionOf" is null then '' else ' ' || v_results[o."versionOf" + 1] end);
      when 'open' then
        if v_space is not null then raise exception using errcode = '${raised.refused}'; end if;
        -- One whose end is over leaves its name; expiry removes what is in it.
        update ${s}.sessions set name = null where name = p_space;
        insert into ${s}.sessions (number, name, ends)
        values (nextval('${s}.numbers'), p_space, o.ends)
        returning 'session:' || number into v_space;
        if o.ends <= v_now then v_space := null; end if;
      when 'extend' then
        update ${s}.sessions set ends = greatest(ends, o.ends) where name = p_space;
      when 'drop' then
        update ${s}.sessions set name = null, ends = 0 where name = p_space;
        v_answer := (v_space is not null)::text;
        v_space := null;`;

/**
 * A step. The locks of all its keys come first, in one order, so that steps never wait for each
 * other in a circle. Then each statement sees what earlier holders of the locks have written.
 * Everything that a refused step has written is undone by the exception block, and the locks stay.
 */
export const applySql = (s: string): string => `${relistSql(s)}${sumsSql(s)}
create function ${s}.apply(
  p_version integer, p_session boolean, p_space text, p_alone boolean, p_locks text[],
  p_wait integer, p_ops json
) returns text ${attributes('volatile')} as $$
declare
  v_space text := 'shared:' || p_space;
  v_now bigint; v_results text[]; v_looks bigint := ${maxLooked}; v_answer text;
  v_ends bigint; v_lives boolean; v_dropped json; v_wait bigint := 0; v_uses text[];
  v_found json;
  o record; d record; i integer := 0;
begin${guardSql(s)}
  perform ${s}.take_locks(hashtextextended(p_session || p_space, hashtextextended('${s}', 0)),
    p_alone, p_locks, p_wait);
  v_now := ${nowSql};
  if p_session then
    v_space := null;
    select 'session:' || number into v_space from ${s}.sessions
    where name = p_space and ends > v_now;
  end if;
  begin
    for o in select * from json_to_recordset(p_ops) as (${operationColumns}) loop
      v_answer := 'true';
      if v_space is null and o.op in ('extend', 'set', 'touch', 'append', 'count') then
        raise exception using errcode = '${raised.refused}';
      end if;
      case o.op${readsSql(s)}${operationsSql(s)}
      end case;
      i := i + 1;
      v_results[i] := v_answer;
    end loop;
  exception when sqlstate '${raised.refused}' then
    if o.op = 'add' then
      for d in select * from json_to_recordset(p_ops) as (${operationColumns}) where op = 'add' loop
        select u.p_looks, u.answer::text into v_looks, v_answer
        from ${s}.use_of(v_space, d.key, d.amount, d.max, d.win, v_now, v_looks) u;
        v_uses := array_append(v_uses, v_answer);
      end loop;
    end if;
    return json_build_object('refused', i, 'wait', v_wait,
      'gone', v_space is null and o.op <> 'open',
      'found', v_found,
      'uses', ('[' || array_to_string(v_uses, ',') || ']')::json);
  end;
  return '{"results":[' || array_to_string(v_results, ',') || ']}';
end $$;
`;
