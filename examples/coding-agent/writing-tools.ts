// The tools that change files: one at a time, by the preset's resource key. A file is replaced
// whole or not at all, so that a read beside it sees the old or the new.
import { unlink } from 'node:fs/promises';
import { defineTool } from '../../src/index.ts';
import { codingAgentTool } from '../../src/surfaces/workflow/index.ts';
import { type Folder, look, PathRefused, pathIn } from '../tools/files/confined.ts';
import { writeBytes } from '../tools/files/contents.ts';
import { below, counted, type HostServices, readText } from './files.ts';
import { placesOf } from './find.ts';
import { applyHunks, parsePatch, type Section } from './patch.ts';
import { Refused } from './refused.ts';

const define = defineTool.for<HostServices>();
const annotations = { destructive: true, openWorld: false };

const writeFile = define({
  ...codingAgentTool('host.fs.write_file'),
  annotations,
  handler: ({ path, content }, context) =>
    counted(context.services.writes, async () => {
      await below(context, path, (folder, name) => writeBytes(folder, name, content), {
        create: true,
      });
      return `wrote ${path}, ${Buffer.byteLength(content)} bytes`;
    }),
});

const editFile = define({
  ...codingAgentTool('host.fs.edit_file'),
  annotations,
  handler: ({ path, oldText, newText, replaceAll }, context) =>
    counted(context.services.writes, () =>
      below(context, path, async (folder, name) => {
        const text = await readText(folder, name);
        const places = placesOf(text, oldText);
        if (places.length === 0)
          throw new Refused('text_not_found', `${path} does not hold the old text`);
        if (places.length > 1 && !replaceAll)
          throw new Refused(
            'text_not_unique',
            `${path} holds the old text ${places.length} times: give more of what is around ` +
              'it, or replaceAll',
          );
        const parts: string[] = [];
        let from = 0;
        for (const place of places) {
          // In `aaa` the second `aa` overlaps the first.
          if (place < from) continue;
          parts.push(text.slice(from, place), newText);
          from = place + oldText.length;
        }
        await writeBytes(folder, name, parts.join('') + text.slice(from));
        return `edited ${path}`;
      }),
    ),
});

const applyPatch = define({
  ...codingAgentTool('host.fs.apply_patch'),
  annotations,
  handler: ({ patch }, context) =>
    counted(context.services.writes, async () => {
      const sections = parsePatch(patch);
      const contents: (string | undefined)[] = [];
      // All is worked out before anything is written.
      for (const section of sections) {
        const work = below(context, section.path, (folder, name) =>
          contentAfter(section, folder, name),
        );
        contents.push(
          await work.catch((error) => {
            if (
              section.kind === 'Add' &&
              error instanceof PathRefused &&
              error.reason === 'not_found'
            )
              return section.content;
            throw error;
          }),
        );
      }
      for (const [index, { path }] of sections.entries()) {
        const content = contents[index];
        const put = (folder: Folder, name: string) =>
          content === undefined ? unlink(pathIn(folder, name)) : writeBytes(folder, name, content);
        await below(context, path, put, { create: content !== undefined });
      }
      return sections
        .map(
          ({ kind, path }) =>
            `${kind === 'Add' ? 'added' : kind === 'Delete' ? 'deleted' : 'updated'} ${path}`,
        )
        .join('\n');
    }),
});

/** What a section makes of its file; undefined where it goes. */
async function contentAfter(
  section: Section,
  folder: Folder,
  name: string,
): Promise<string | undefined> {
  const found = await look(folder, name);
  if (section.kind === 'Add') {
    if (found !== undefined)
      throw new Refused('file_exists', `${section.path} is there already: update it`);
    return section.content;
  }
  const text = await readText(folder, name);
  return section.kind === 'Update' ? applyHunks(text, section.hunks) : undefined;
}

export const writingTools = [writeFile, editFile, applyPatch] as const;
