import { z } from 'zod';
import { defineTool, fail, ok } from '../../src/index.ts';
import { inFolderOf, look } from './files/confined.ts';
import { writeBytes } from './files/contents.ts';
import { pathParts } from './files/path.ts';
import { judgePath, pathFailure, rootOf } from './files/policy.ts';

/** Writes one text file below a root: whole or not at all. */
export const writeFileTool = defineTool({
  name: 'write_file',
  description: 'Writes a text file below the root; folders that are missing are made.',
  parameters: z.strictObject({
    path: z.string().describe('Path from the root, with / between its parts'),
    content: z.string().describe('The whole new content'),
  }),
  annotations: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  timeoutMs: 10_000,
  resourceKey: ({ path }) => `file:${pathParts(path).join('/')}`,
  policy: {
    knobs: z.strictObject({
      /** Folder that writes stay below; the session's working folder unless given. */
      root: z.string().min(1).optional(),
      /** Longest content, in bytes of UTF-8. */
      maxBytes: z.int().min(1).default(256_000),
      /** Whether a file that is there may be replaced. */
      allowOverwrite: z.boolean().default(true),
    }),
    check(call) {
      const bytes = Buffer.byteLength(call.input.content);
      return bytes > call.knobs.maxBytes
        ? call.deny('content_too_large', `${bytes} bytes; at most ${call.knobs.maxBytes}`)
        : judgePath(call);
    },
  },
  async handler({ path, content }, { cwd, knobs }) {
    try {
      return await inFolderOf(
        rootOf(knobs, { cwd }),
        path,
        async (folder, name) => {
          const old = await look(folder, name);
          if (old !== undefined && !knobs.allowOverwrite)
            return fail({ message: `${path} is there already`, reason: 'file_exists' });
          await writeBytes(folder, name, content);
          return ok(
            `${old === undefined ? 'created' : 'replaced'} ${path}, ` +
              `${Buffer.byteLength(content)} bytes`,
          );
        },
        { create: true },
      );
    } catch (error) {
      return pathFailure(error);
    }
  },
});
