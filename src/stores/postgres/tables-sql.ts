/** The tables. docs/stores.md describes them. */

/** The version of tables and functions that this program needs. */
export const neededVersion = 1;

/** The time of what has no end, in epoch milliseconds: the largest number of its type. */
export const never = '9223372036854775807';

/** How many characters of a name an index of a list orders by. */
export const headChars = 170;

/**
 * @param s The quoted name of the schema. Names compare by their bytes, whatever the locale of the
 * database, and times are epoch milliseconds. Longer than 60 lines, since it is all of them.
 */
export const tablesSql = (s: string): string => `
create table ${s}.meta (version integer not null);
create sequence ${s}.numbers;
create table ${s}.sessions (
  number bigint primary key,
  name text collate "C",
  ends bigint not null
);
create unique index sessions_name on ${s}.sessions (name) where name is not null;
create index sessions_ends on ${s}.sessions (ends);
create table ${s}.documents (
  space text collate "C" not null,
  key text collate "C" not null,
  value text not null,
  version bigint not null,
  ends bigint not null,
  lists text[],
  primary key (space, key)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index documents_ends on ${s}.documents (ends) where ends < ${never};
create table ${s}.listed (
  space text collate "C" not null,
  list text collate "C" not null,
  ends bigint not null,
  key text collate "C" not null,
  name text collate "C"
) with (autovacuum_vacuum_scale_factor = 0.05);
create index listed_order on ${s}.listed
  (space, list, ends, left(coalesce(name, key), ${headChars}));
create table ${s}.logs (
  space text collate "C" not null,
  log text collate "C" not null,
  number bigint not null,
  first bigint not null,
  last bigint not null,
  primary key (space, log)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create table ${s}.entries (
  log bigint not null,
  id bigint not null,
  value text not null,
  primary key (log, id)
);
create table ${s}.counters (
  space text collate "C" not null,
  key text collate "C" not null,
  used bigint not null,
  ends bigint not null,
  primary key (space, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index counters_ends on ${s}.counters (ends);
create table ${s}.sums (
  space text collate "C" not null,
  key text collate "C" not null,
  number bigint not null,
  total numeric not null,
  amounts integer not null,
  gone bigint not null,
  newest bigint not null,
  at bigint not null,
  ends bigint not null,
  primary key (space, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create unique index sums_number on ${s}.sums (number);
create index sums_ends on ${s}.sums (ends);
create table ${s}.amounts (
  sum bigint not null,
  started bigint not null,
  at bigint not null,
  amount numeric not null,
  ends bigint not null,
  primary key (sum, started)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index amounts_ends on ${s}.amounts (ends);
create table ${s}.items (
  owner text collate "C" not null,
  key text collate "C" not null,
  due bigint not null,
  primary key (owner, key)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index items_due on ${s}.items (due);
insert into ${s}.meta values (${neededVersion});
`;
