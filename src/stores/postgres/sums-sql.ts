/** The functions that write sums. */

/** How long a sum that does not slide is kept after its last amount: 30 days. */
const keepSumMs = 30 * 86_400_000;

/** How many amounts of a sum are kept one by one. */
const maxAmounts = 1_024;

/**
 * Adds to a sum, and takes back. Adding returns the place of the amount, or null if the sum would
 * be over its maximum. Longer than 60 lines, since it is two functions of SQL.
 */
export const sumsSql = (s: string): string => `
create function ${s}.add_to(
  p_space text, p_key text, p_amount numeric, p_max numeric, p_win bigint, p_now bigint
) returns text language plpgsql volatile security invoker as $$
declare
  s record; v_is_new boolean; v_moment bigint := p_now; v_joins boolean := false;
  v_count bigint; v_sum numeric; v_last bigint; v_keep bigint;
begin
  -- Locked, because expiry removes amounts without the lock of the key.
  select number, total, amounts, gone, newest, at, ends into s
  from ${s}.sums where space = p_space and key = p_key for update;
  v_is_new := not found;
  if v_is_new or (p_win is null and s.ends <= p_now) then
    select nextval('${s}.numbers') as number, 0::numeric as total, 0 as amounts, -1::bigint as gone,
      0::bigint as newest, p_now as at, 0::bigint as ends into s;
  elsif s.at > v_moment then
    -- The clock was put back.
    v_moment := s.at;
  end if;
  if p_win is not null and s.amounts > 0 then
    if s.at <= v_moment - p_win then
      s.total := 0; s.amounts := 0; s.gone := s.newest;
    else
      select count(*), sum(a.amount), max(a.started) into v_count, v_sum, v_last
      from ${s}.amounts a where a.sum = s.number and a.started > s.gone
        and a.started <= v_moment - p_win and a.at <= v_moment - p_win;
      if v_count > 0 then
        s.total := s.total - v_sum; s.amounts := s.amounts - v_count; s.gone := v_last;
      end if;
    end if;
    v_joins := s.amounts > 0 and (s.at = v_moment
      or (s.amounts >= ${maxAmounts} and v_moment - s.newest <= p_win / ${maxAmounts}));
  end if;
  if p_max is not null and s.total + p_amount > p_max then return null; end if;
  if v_joins then
    update ${s}.amounts set amount = amount + p_amount, at = v_moment, ends = v_moment + p_win
    where sum = s.number and started = s.newest;
  elsif p_win is not null then
    s.newest := v_moment; s.amounts := s.amounts + 1;
    insert into ${s}.amounts (sum, started, at, amount, ends)
    values (s.number, v_moment, v_moment, p_amount, v_moment + p_win);
  end if;
  -- An end that is somewhat too late is moved seldom, and its index with it.
  v_keep := coalesce(p_win, ${keepSumMs});
  if p_win is null then s.ends := v_moment + v_keep;
  elsif s.ends < v_moment + v_keep then s.ends := v_moment + v_keep + v_keep / 4 + 1000;
  end if;
  if v_is_new then
    insert into ${s}.sums (space, key, number, total, amounts, gone, newest, at, ends)
    values (p_space, p_key, s.number, p_amount, s.amounts, s.gone, s.newest, v_moment, s.ends);
  else
    update ${s}.sums set number = s.number, total = s.total + p_amount, amounts = s.amounts,
      gone = s.gone, newest = s.newest, at = v_moment, ends = s.ends
    where space = p_space and key = p_key;
  end if;
  return s.number || '.' || s.newest;
end $$;

create function ${s}.take_back(
  p_space text, p_key text, p_amount numeric, p_number bigint, p_started bigint, p_now bigint
) returns void language plpgsql volatile security invoker as $$
declare s record; v_back numeric;
begin
  select total, gone, newest, ends into s from ${s}.sums
  where space = p_space and key = p_key and number = p_number for update;
  if not found then return; end if;
  if p_started = 0 then
    if s.ends > p_now then v_back := least(s.total, p_amount); end if;
  elsif p_started > s.gone then
    select least(a.amount, p_amount) into v_back from ${s}.amounts a
    where a.sum = p_number and a.started = p_started and a.ends > p_now;
    if v_back > 0 then
      update ${s}.amounts set amount = amount - v_back
      where sum = p_number and started = p_started;
    end if;
  end if;
  if v_back > 0 then
    update ${s}.sums set total = total - v_back where space = p_space and key = p_key;
  end if;
end $$;
`;
