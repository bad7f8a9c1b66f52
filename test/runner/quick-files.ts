/** Which test files `npm run test:quick` runs for a change. */
import { heavy, slow } from './order.ts';

/** A test file, and how it is connected to the change. */
export interface Candidate {
  /** From the root of the repository. */
  readonly file: string;
  /** Whether it is of the project `outside`. */
  readonly isOutside: boolean;
  /** Whether its imports lead to a changed file, or it has changed itself. */
  readonly isRelated: boolean;
}

/**
 * What reads texts of the whole repository, so that no import leads from it to what it checks.
 * `docs.test.ts` leaves out the snippets unless a page has changed.
 */
const always = [
  'test/architecture.test.ts',
  'test/docs.test.ts',
  'test/docstrings.test.ts',
  'test/lists.test.ts',
];

/** Other folders below `test` that notice a fault in what lies in a folder. */
export const readBy: Readonly<Record<string, readonly string[]>> = {
  // Outside of `src` and `test`.
  docs: ['docs'],
  examples: ['examples'],
  rules: ['cli/hook', 'docs'],
  // Servers are where requests come from.
  'values/http': ['surfaces/mcp/server', 'surfaces/relay/server'],
  // Of the adapters, these start programs.
  'surfaces/shared': ['surfaces/ai-sdk', 'surfaces/openai'],
  // Pages are tried in a browser.
  'surfaces/pages': ['surfaces/inspector', 'surfaces/approvals'],
  // What users reach by commands is tried by commands.
  'surfaces/agents': ['cli/hook'],
  'surfaces/gateway': ['cli'],
};

/**
 * The folders below `test` that belong to changed files, such as `surfaces/mcp`, or `cli`.
 */
export function foldersOf(paths: readonly string[]): string[] {
  const folders = paths.flatMap((path) => {
    if (/^[A-Z]+\.md$/.test(path)) return 'docs';
    const own =
      /^(?:src|test)\/((?:(?:values|core|parts|assembly|executors|stores|surfaces)\/)?[^/]+)\//.exec(
        path,
      )?.[1];
    const near = readBy[own ?? (path.split('/')[0] as string)] ?? [];
    return own === undefined ? near : [own, ...near];
  });
  return [...new Set(folders)];
}

/** The test files of a change, as a filter. */
export function quickFiles(paths: readonly string[]): (candidate: Candidate) => boolean {
  const folders = foldersOf(paths);
  return ({ file, isOutside, isRelated }) => {
    if (always.includes(file)) return true;
    const isOwn = folders.some((folder) => file.startsWith(`test/${folder}/`));
    // An import leads from nearly every inside test to the core.
    if (!isOutside) return isOwn || (isRelated && !heavy.includes(file));
    if (slow.includes(file)) return false;
    // Those that start programs import little of what they test. The conformance suite of surfaces
    // and the files beside it belong to all adapters.
    return isOwn || (isRelated && /^test\/surfaces\/[^/]+$/.test(file));
  };
}
