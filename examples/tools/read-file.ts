import { z } from 'zod';
import { defineTool, fail, ok } from '../../src/index.ts';
import { inFolderOf } from './files/confined.ts';
import { readBytes } from './files/contents.ts';
import { judgePath, pathFailure, rootOf } from './files/policy.ts';
import { decodeText } from './files/text.ts';

/** Reads a text file, or some of its lines, from below a root. */
export const readFileTool = defineTool({
  name: 'read_file',
  description: 'Reads a text file below the root, whole or some of its lines.',
  parameters: z.strictObject({
    path: z.string().describe('Path from the root, with / between its parts'),
    startLine: z.int().min(1).default(1).describe('First line, from 1'),
    maxLines: z.int().min(1).max(100_000).optional().describe('How many lines; without it, all'),
  }),
  annotations: { readOnly: true, idempotent: true, openWorld: false },
  timeoutMs: 10_000,
  policy: {
    knobs: z.strictObject({
      /** Folder that reads stay below; the session's working folder unless given. */
      root: z.string().min(1).optional(),
      /** A larger file is refused, not cut. */
      maxBytes: z.int().min(1).default(512_000),
    }),
    check: judgePath,
  },
  async handler({ path, startLine, maxLines }, { cwd, knobs }) {
    try {
      const { bytes, more } = await inFolderOf(rootOf(knobs, { cwd }), path, (folder, name) =>
        readBytes(folder, name, knobs.maxBytes),
      );
      if (more)
        return fail({
          message: `${path} is larger than ${knobs.maxBytes} bytes`,
          reason: 'file_too_large',
        });
      const text = decodeText(bytes);
      if (text === undefined)
        return fail({ message: `${path} is not text`, reason: 'binary_file' });
      const lines = text.split('\n');
      const wanted =
        startLine === 1 && maxLines === undefined
          ? text
          : lines
              .slice(startLine - 1, maxLines === undefined ? undefined : startLine - 1 + maxLines)
              .join('\n');
      return ok(wanted, { lines: lines.length });
    } catch (error) {
      return pathFailure(error);
    }
  },
});
