// The tools that look: they run side by side.
import { defineTool } from '../../src/index.ts';
import { codingAgentTool } from '../../src/surfaces/workflow/index.ts';
import { type Folder, listFolder, look, openFolder, PathRefused } from '../tools/files/confined.ts';
import { pathParts } from '../tools/files/path.ts';
import { searchFolder } from '../tools/files/search.ts';
import {
  below,
  type Context,
  counted,
  filesBelow,
  type HostServices,
  readText,
  SKIPPED,
} from './files.ts';
import { pathMatches } from './find.ts';

const define = defineTool.for<HostServices>();
const annotations = { readOnly: true, openWorld: false };

const MAX_FILES = 5_000;
const MAX_FILE_BYTES = 500_000;
const CUT = '[there may be more: the search ended at its limit]';

function reading<T>(
  context: Context,
  path: string,
  use: (folder: Folder, name: string) => Promise<T>,
) {
  return counted(context.services.reads, () => below(context, path, use));
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): 'file' | 'folder' | 'other' {
  return entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other';
}

const readFile = define({
  ...codingAgentTool('host.fs.read_file'),
  annotations,
  handler: ({ path, startLine, maxLines }, context) =>
    reading(context, path, async (folder, name) => {
      const text = await readText(folder, name);
      if (startLine === 1 && maxLines === undefined) return text;
      const lines = text.split('\n').slice(startLine - 1);
      return lines.slice(0, maxLines).join('\n');
    }),
});

const grep = define({
  ...codingAgentTool('host.fs.grep'),
  annotations,
  handler: ({ text, path, ignoreCase, maxMatches }, context) =>
    reading(context, path, async (folder, name) => {
      const bounds = {
        maxMatches,
        maxFiles: MAX_FILES,
        maxFileBytes: MAX_FILE_BYTES,
        skip: SKIPPED,
        signal: context.signal,
      };
      if (!(await look(folder, name))?.isFile()) {
        const { matches, complete } = await searchFolder(
          folder,
          name,
          { text, ignoreCase },
          bounds,
        );
        const lines = matches.map(
          (match) => `${prefixOf(path)}${match.path}:${match.line}: ${match.text}`,
        );
        return [...lines, ...(complete ? [] : [CUT])].join('\n') || 'no matches';
      }
      const fold = (line: string) => (ignoreCase ? line.toLowerCase() : line);
      const lines = (await readText(folder, name))
        .split('\n')
        .flatMap((line, index) =>
          fold(line).includes(fold(text)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
        );
      return (
        [...lines.slice(0, maxMatches), ...(lines.length > maxMatches ? [CUT] : [])].join('\n') ||
        'no matches'
      );
    }),
});

const glob = define({
  ...codingAgentTool('host.fs.glob'),
  annotations,
  handler: ({ pattern, path, maxMatches }, context) =>
    reading(context, path, async (folder, name) => {
      const found: string[] = [];
      let seen = 0;
      for await (const file of filesBelow(folder, name, context.signal)) {
        seen += 1;
        if (seen > MAX_FILES || found.length === maxMatches) return [...found, CUT].join('\n');
        if (pathMatches(pattern, file)) found.push(`${prefixOf(path)}${file}`);
      }
      return found.join('\n') || 'no matches';
    }),
});

const stat = define({
  ...codingAgentTool('host.fs.stat'),
  annotations,
  handler: ({ path }, context) =>
    reading(context, path, async (folder, name) => {
      const found = await look(folder, name);
      if (found === undefined)
        throw new PathRefused({ reason: 'not_found', message: `${name} does not exist` });
      return found.isFile() ? { kind: kindOf(found), bytes: found.size } : { kind: kindOf(found) };
    }),
});

const exists = define({
  ...codingAgentTool('host.fs.exists'),
  annotations,
  handler: ({ path }, context) =>
    counted(context.services.reads, async () => {
      try {
        return await below(
          context,
          path,
          async (folder, name) => (await look(folder, name)) !== undefined,
        );
      } catch (error) {
        // A folder on the way is missing, or is a file.
        if (
          error instanceof PathRefused &&
          (error.reason === 'not_found' || error.reason === 'not_a_folder')
        )
          return false;
        throw error;
      }
    }),
});

const listDir = define({
  ...codingAgentTool('host.fs.list_dir'),
  annotations,
  handler: ({ path }, context) =>
    reading(context, path, async (folder, name) => {
      const here = await openFolder(folder, name);
      try {
        return (await listFolder(here)).map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
      } finally {
        await here.handle.close();
      }
    }),
});

/** `a//./b` as `a/b/`, and the root as nothing. */
function prefixOf(path: string): string {
  return pathParts(path)
    .map((part) => `${part}/`)
    .join('');
}

export const readingTools = [readFile, grep, glob, stat, exists, listDir] as const;
