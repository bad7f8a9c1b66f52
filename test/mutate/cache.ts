/** What earlier runs found, so that a run goes on where the last one stopped. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function digest(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64url').slice(0, 22);
}

/** A map in a file, as JSON. */
export class Cache<Value> {
  readonly #path: string;
  readonly #entries: Map<string, Value>;

  constructor(path: string, fresh: boolean) {
    this.#path = path;
    if (fresh) rmSync(path, { force: true });
    this.#entries = new Map(Object.entries(read(path) as Record<string, Value>));
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.set(key, value);
  }

  save(): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify(Object.fromEntries(this.#entries)));
  }
}

function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}
