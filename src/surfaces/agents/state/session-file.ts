/** How the hooks of one session inform each other: each appends lines to a file. */
import { readFileSync } from 'node:fs';
import { appendPrivateFile } from '../../../values/files/private-file.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../values/json/index.ts';
import { HookFault } from '../event.ts';
import { locked, requireRegularFile } from './locked-file.ts';

/** One thing that has happened. */
export type Entry =
  | { readonly said: string }
  | {
      /** A call may run. */
      readonly began: string;
      /** Whether the person is asked about it. */
      readonly asked: boolean;
      /** The id of its line in the audit log, if the agent gives none. */
      readonly id?: string;
    }
  | {
      /** A call has ended. */
      readonly ended: string;
      readonly tool: string;
      readonly input: JsonObject;
      /** Its output, if that is to be remembered. */
      readonly output?: JsonValue;
      /** Whether a person has approved it. */
      readonly approved: boolean;
    };

/** Largest file, in bytes. Further entries are not remembered. */
const maxBytes = 16_000_000;
/** Room for entries that must be remembered in any case. */
const reservedBytes = 1_000_000;

/** The file of one session. */
export interface SessionFile {
  /** All entries so far, in order. @throws HookFault if the file cannot be understood */
  read(): Promise<readonly Entry[]>;
  /**
   * Appends an entry.
   * @param needed Whether the event fails if there is no room.
   * @throws HookFault
   */
  add(entry: Entry, needed: boolean): Promise<void>;
}

/** @param until Epoch milliseconds until which it waits for other hooks. */
export function sessionFile(file: string, until: number): SessionFile {
  const lock = `${file}.lock`;
  return {
    read: () => locked(lock, until, () => readEntries(file)),
    add: (entry, needed) =>
      locked(lock, until, () => {
        requireRegularFile(file);
        const line = Buffer.from(`${JSON.stringify(entry)}\n`);
        const most = maxBytes + (needed ? reservedBytes : 0);
        if (!appendPrivateFile(file, line, most) && needed)
          throw new HookFault(`${file} is full. Begin a new session of the agent.`);
      }),
  };
}

function readEntries(file: string): readonly Entry[] {
  requireRegularFile(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return [];
    throw error;
  }
  const lines = text.split('\n');
  if (lines.pop() !== '') throw corrupt(file, lines.length + 1);
  return lines.map((line, index) => {
    try {
      const copy = copyJson(JSON.parse(line), { maxDepth: 80, maxValues: 2_000_000 });
      if (copy.ok && isEntry(copy.value)) return copy.value;
    } catch {
      // Continues below.
    }
    throw corrupt(file, index + 1);
  });
}

function isEntry(value: JsonValue): value is JsonValue & Entry {
  if (!isJsonObject(value)) return false;
  if (typeof value.said === 'string') return true;
  if (typeof value.began === 'string') return typeof value.asked === 'boolean';
  return (
    typeof value.ended === 'string' &&
    typeof value.tool === 'string' &&
    typeof value.approved === 'boolean' &&
    isJsonObject(value.input)
  );
}

function corrupt(file: string, line: number): HookFault {
  return new HookFault(
    `${file}:${line} was changed or cut off, so what happened in this session is not known. ` +
      'Remove the file, and begin a new session of the agent.',
  );
}
