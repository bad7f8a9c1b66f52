/**
 * Keeps the rules of files that have loaded, so that the next hook need not parse and check them
 * again.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { forgetOld } from '../surfaces/agents/hooks.ts';
import type { RulesOnly } from '../surfaces/config/for-hooks.ts';
import { readPrivateFile } from '../values/files/private-file.ts';
import { replaceFileSync } from '../values/files/whole-file.ts';
import { packageVersion } from '../values/packages/own-version.ts';

/** Larger files are read each time. */
const maxBytes = 1_000_000;

/** What is kept of a file. */
export interface KeptRules {
  /** Undefined if nothing is kept of the file as it is now. */
  readonly content: RulesOnly | undefined;
  /** Keeps the rules for later hooks. Never throws. */
  keep(content: RulesOnly | undefined): void;
}

/** @param folder Only its owner can use it. Undefined if nothing is kept. */
export function keptRules(path: string, folder: string | undefined): KeptRules {
  const digest = folder === undefined ? undefined : digestOf(path);
  if (folder === undefined || digest === undefined) return { content: undefined, keep: () => {} };
  const file = join(folder, `rules-${digest}`);
  return {
    content: readKept(file),
    keep(content) {
      // The file may have changed since.
      if (content === undefined || digestOf(path) !== digest) return;
      try {
        replaceFileSync(file, JSON.stringify(content), { durable: false });
        forgetOld(folder, Date.now());
      } catch {
        // The next hook reads the file again.
      }
    },
  };
}

/** Undefined for a file that is to be read as usual, which reports what is wrong with it. */
function digestOf(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const hash = createHash('sha256')
      .update(packageVersion)
      .update(path.endsWith('.json') ? 'j' : 'y');
    return hash.update(readFileSync(path)).digest('hex').slice(0, 40);
  } catch {
    return undefined;
  }
}

function readKept(file: string): RulesOnly | undefined {
  try {
    const bytes = readPrivateFile(file, 'so it is not used');
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as RulesOnly);
  } catch {
    return undefined;
  }
}
