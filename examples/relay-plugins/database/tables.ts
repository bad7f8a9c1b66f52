/**
 * A small database in memory, in place of a real one: it needs no package and runs on every version
 * of Node. Rows are compared by value; nothing is parsed, so nothing can be injected.
 */

/** A value of a column. */
export type Cell = string | number | boolean | null;
/** A row: cells by the names of columns. */
export type Row = Readonly<Record<string, Cell>>;

/** The database. Each method throws an Error that says what is wrong and what there is. */
export interface Tables {
  /** The columns of each table. */
  describe(): Readonly<Record<string, readonly string[]>>;
  /** Rows whose cells equal those of `where`, at most `limit`. */
  find(table: string, where: Row, limit: number): readonly Row[];
  insert(table: string, row: Row): void;
  /** Changes the cells of `set` in each row that matches. Returns how many there are. */
  update(table: string, where: Row, set: Row): number;
  /** Removes each row that matches. Returns how many there were. */
  remove(table: string, where: Row): number;
}

/** @param columns the columns of each table */
export function createTables(columns: ReadonlyMap<string, readonly string[]>): Tables {
  const rows = new Map<string, Map<string, Cell>[]>([...columns.keys()].map((name) => [name, []]));
  const rowsOf = (table: string): Map<string, Cell>[] => {
    const found = rows.get(table);
    if (found !== undefined) return found;
    throw new Error(`There is no table ${table}. There are: ${[...columns.keys()].join(', ')}.`);
  };
  const cellsOf = (table: string, row: Row): [string, Cell][] => {
    const known = columns.get(table) ?? [];
    return Object.entries(row).map(([column, cell]) => {
      if (known.includes(column)) return [column, cell];
      throw new Error(`${table} has no column ${column}. It has: ${known.join(', ')}.`);
    });
  };
  const matching = (table: string, where: Row): Map<string, Cell>[] => {
    const all = rowsOf(table);
    const wanted = cellsOf(table, where);
    return all.filter((row) => wanted.every(([column, cell]) => row.get(column) === cell));
  };
  return {
    describe: () => Object.fromEntries(columns),
    find: (table, where, limit) =>
      matching(table, where)
        .slice(0, limit)
        .map((row) => Object.fromEntries(row)),
    insert(table, row) {
      const empty =
        rowsOf(table) && (columns.get(table) ?? []).map((name) => [name, null] as const);
      rowsOf(table).push(new Map<string, Cell>([...empty, ...cellsOf(table, row)]));
    },
    update(table, where, set) {
      const found = matching(table, where);
      const cells = cellsOf(table, set);
      for (const row of found) for (const [column, cell] of cells) row.set(column, cell);
      return found.length;
    },
    remove(table, where) {
      const gone = new Set(matching(table, where));
      rows.set(
        table,
        rowsOf(table).filter((row) => !gone.has(row)),
      );
      return gone.size;
    },
  };
}
