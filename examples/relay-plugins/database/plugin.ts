/** An application of type `database`: it brings the tables of a database to an agent's session. */
import {
  connectRelay,
  type RelayConnection,
  type RelayTool,
  relayTool,
} from '../../../src/surfaces/relay-client/index.ts';
import type { RelaySeat } from '../relay-seat.ts';
import type { Row, Tables } from './tables.ts';

/** The plugin while it is connected. */
export interface DatabasePlugin {
  readonly connection: RelayConnection;
  /** For maintenance: while it is true, the agent has no tools that write. */
  setReadOnly(readOnly: boolean): Promise<unknown>;
}

const table = { type: 'string', minLength: 1, maxLength: 100 };
const row = {
  type: 'object',
  minProperties: 1,
  maxProperties: 100,
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
};
const object = (properties: Readonly<Record<string, object>>, ...required: string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** Connects it. */
export async function connectDatabase(seat: RelaySeat, tables: Tables): Promise<DatabasePlugin> {
  const reading = readingTools(tables);
  const all = [...reading, ...writingTools(tables)];
  const connection = await connectRelay({ ...seat, pluginType: 'database', tools: all });
  return {
    connection,
    setReadOnly: (readOnly) => connection.update(readOnly ? reading : all, 'maintenance'),
  };
}

function readingTools(tables: Tables): RelayTool[] {
  return [
    {
      name: 'db_tables',
      description: 'Lists the tables with their columns.',
      parameters: object({}),
      annotations: { readOnly: true, idempotent: true },
      handler: () => tables.describe(),
    },
    relayTool<{ table: string; where?: Row; limit?: number }>({
      name: 'db_find',
      description: 'Finds rows whose columns have the values of `where`; all rows without it.',
      parameters: object(
        { table, where: row, limit: { type: 'integer', minimum: 1, maximum: 100 } },
        'table',
      ),
      annotations: { readOnly: true, idempotent: true },
      handler: ({ table, where = {}, limit = 20 }) => tables.find(table, where, limit),
    }),
  ];
}

function writingTools(tables: Tables): RelayTool[] {
  return [
    relayTool<{ table: string; row: Row }>({
      name: 'db_insert',
      description: 'Adds a row. Columns that are left out are null.',
      parameters: object({ table, row }, 'table', 'row'),
      handler: ({ table, row }) => {
        tables.insert(table, row);
        return { inserted: 1 };
      },
    }),
    relayTool<{ table: string; where: Row; set: Row }>({
      name: 'db_update',
      description: 'Changes columns of the rows that match `where`.',
      parameters: object({ table, where: row, set: row }, 'table', 'where', 'set'),
      annotations: { destructive: true },
      handler: ({ table, where, set }) => ({ updated: tables.update(table, where, set) }),
    }),
    relayTool<{ table: string; where: Row }>({
      name: 'db_delete',
      description: 'Deletes the rows that match `where`.',
      parameters: object({ table, where: row }, 'table', 'where'),
      annotations: { destructive: true },
      handler: ({ table, where }) => ({ deleted: tables.remove(table, where) }),
    }),
  ];
}
