/**
 * An approval store of plain files: suspended calls survive a restart, and each is answered once,
 * however many processes share the folder.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApprovalRecord, ApprovalStore, JsonObject } from '../src/index.ts';

/**
 * The ids that the library makes. Whatever else asks for a file, a path with `..` above all, finds
 * none.
 */
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Keeps one file a record, readable by its owner alone: a record holds the arguments in full, and
 * the token that answers it. `take` renames the file first. A rename within a folder is atomic, so
 * of two processes that take one record, one gets it.
 * @param folder Made when it is missing. Give it to this store alone, on a local disk.
 * @param now Epoch milliseconds; expired records are removed as others are listed.
 */
export function fileApprovalStore(folder: string, now: () => number = Date.now): ApprovalStore {
  const fileOf = (id: string): string => join(folder, `${id}.json`);
  return {
    async put(record: ApprovalRecord) {
      if (!idPattern.test(record.id))
        throw new Error('fileApprovalStore: expected a record whose id is a UUID.');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Written beside its place and moved into it: nobody reads half a record, and what is there
      // is on the disk.
      const draft = join(folder, `${randomUUID()}.draft`);
      const file = await open(draft, 'wx', 0o600);
      try {
        await file.writeFile(JSON.stringify(record));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, fileOf(record.id));
    },
    async take(id: string) {
      if (!idPattern.test(id)) return undefined;
      const mine = join(folder, `${randomUUID()}.taken`);
      try {
        await rename(fileOf(id), mine);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
      const record = await read(mine);
      await rm(mine, { force: true });
      return record;
    },
    async list(sessionId: string) {
      const records: JsonObject[] = [];
      for (const name of await names(folder)) {
        if (!name.endsWith('.json') || !idPattern.test(name.slice(0, -5))) continue;
        const record = await read(join(folder, name));
        if (record === undefined) continue;
        if (typeof record.expiresAt === 'number' && record.expiresAt <= now())
          await rm(join(folder, name), { force: true });
        else if (record.sessionId === sessionId) records.push(record);
      }
      return records;
    },
  };
}

async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Undefined for a file that somebody took meanwhile, or that is no record. */
async function read(path: string): Promise<JsonObject | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ENOENT';
}
