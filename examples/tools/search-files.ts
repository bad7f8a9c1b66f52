import { z } from 'zod';
import { defineTool, ok } from '../../src/index.ts';
import { inFolderOf } from './files/confined.ts';
import { pathParts } from './files/path.ts';
import { judgePath, pathFailure, rootOf } from './files/policy.ts';
import { searchFolder } from './files/search.ts';

/**
 * Finds lines that hold a text. The text is plain, never a pattern: a model's regular expression
 * could keep the host busy for ever.
 */
export const searchFilesTool = defineTool({
  name: 'search_files',
  description: 'Finds lines that contain a text, in the text files below a folder.',
  parameters: z.strictObject({
    text: z.string().min(1).max(500).describe('Plain text, not a pattern'),
    path: z.string().default('.').describe('Folder to search, from the root'),
    ignoreCase: z.boolean().default(false),
  }),
  annotations: { readOnly: true, idempotent: true, openWorld: false },
  timeoutMs: 20_000,
  policy: {
    knobs: z.strictObject({
      /** Folder that searches stay below; the session's working folder unless given. */
      root: z.string().min(1).optional(),
      maxMatches: z.int().min(1).default(100),
      /** Files opened at most in one call. */
      maxFiles: z.int().min(1).default(5_000),
      /** Larger files are passed over. */
      maxFileBytes: z.int().min(1).default(512_000),
      /** Folders that are not entered, by name; `.git` never is. */
      skip: z.array(z.string()).default(['node_modules']),
    }),
    check: judgePath,
  },
  async handler({ text, path, ignoreCase }, { cwd, knobs, signal }) {
    try {
      const bounds = { ...knobs, signal, skip: new Set([...knobs.skip, '.git']) };
      const found = await inFolderOf(rootOf(knobs, { cwd }), path, (folder, name) =>
        searchFolder(folder, name, { text, ignoreCase }, bounds),
      );
      const below = pathParts(path)
        .map((part) => `${part}/`)
        .join('');
      const lines = found.matches.map(
        (match) => `${below}${match.path}:${match.line}: ${match.text}`,
      );
      const end = found.complete ? [] : ['[the search stopped at its limit; there may be more]'];
      return ok([...lines, ...end].join('\n') || 'no matches', {
        matches: lines.length,
        searched: found.searched,
        skipped: found.skipped,
        complete: found.complete,
      });
    } catch (error) {
      return pathFailure(error);
    }
  },
});
