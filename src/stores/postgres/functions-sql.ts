/**
 * What all functions share. They run with the rights of whoever calls them, name everything with
 * its schema, and look up operators in `pg_catalog` only, so that no table or operator of somebody
 * else takes the place of one.
 */
import { neededVersion } from './tables-sql.ts';

/** SQLSTATEs that the functions raise. */
export const raised = { version: 'HT001', isolation: 'HT002', refused: 'HT003' } as const;

/**
 * What a function that programs call begins with. Plans that were made while a table was empty must
 * not read all of it later, so sequential scans are off.
 */
export const attributes = (volatility: 'stable' | 'volatile'): string =>
  `language plpgsql ${volatility} security invoker ` +
  'set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off';

/** The time, read after all waiting: what held a lock before has written earlier times. */
export const nowSql = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** Refuses programs of other versions, and transactions that do not see what others do. */
export const guardSql = (s: string): string => `
  if p_version <> ${neededVersion}
    or p_version is distinct from (select version from ${s}.meta) then
    raise exception using errcode = '${raised.version}',
      message = 'host-tools: the tables have version ${neededVersion}';
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = '${raised.isolation}',
      message = 'host-tools: expected the isolation level read committed';
  end if;`;

/**
 * Takes locks that end with the transaction: one for all that there is below a name, or one for
 * each of some keys, in one order. Null takes none. Whoever waits too long is refused.
 */
export const locksSql = (s: string): string => `
create function ${s}.take_locks(
  p_below bigint, p_alone boolean, p_locks text[], p_wait integer
) returns void language plpgsql volatile security invoker as $$
begin
  perform set_config('lock_timeout', p_wait::text, true);
  if p_alone then perform pg_advisory_xact_lock(p_below);
  elsif p_alone is not null then
    perform pg_advisory_xact_lock_shared(p_below);
    perform pg_advisory_xact_lock(l.hash) from (
      select distinct hashtextextended(name, p_below) as hash
      from unnest(p_locks) n (name) order by 1
    ) l;
  end if;
end $$;
`;

/** The columns of an operation, as the function \`json_to_recordset\` needs them. */
export const operationColumns = `
  op text, key text, keys text[], value text, version bigint, ttl bigint, ends bigint,
  lists text[], name text, required boolean, list text, after bigint, "limit" bigint, bytes bigint,
  keep bigint, win bigint, amount numeric, max numeric, number bigint, started bigint,
  channel text, message text, "versionOf" integer`;
