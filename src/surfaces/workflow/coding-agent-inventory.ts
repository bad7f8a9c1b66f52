/** The tools of the coding agent preset, as the model sees them. */
import type { ToolSpec } from '../../core/toolset/tool-spec.ts';

export type Inventory = ReturnType<typeof inventory>;

/** Longer than 60 lines, since it is one table. */
export function inventory() {
  return {
    'host.session.open': {
      name: 'host.session.open',
      description:
        'Opens the host session, which gives access to the files and programs of the ' +
        'repository. Call it first; the other host tools are available from the next turn on.',
      parameters: input({}, []),
      provides: ['hostSession.status', 'hostSession.id'],
      parallelSafe: false,
    },
    'host.exec': {
      name: 'host.exec',
      description:
        'Runs a program with its arguments, without a shell, and returns its exit code and ' +
        'output. Prefer the file tools for reading, searching and editing.',
      parameters: input(
        {
          program: {
            type: 'string',
            minLength: 1,
            maxLength: 1_000,
            description: 'Program to run, such as node; no arguments, no shell syntax',
          },
          args: {
            type: 'array',
            items: { type: 'string', maxLength: 10_000 },
            maxItems: 200,
            default: [],
            description: 'Arguments, one per item; nothing is quoted or expanded',
          },
          cwd: { ...path('Folder to run in'), default: '.' },
          timeoutMs: {
            type: 'integer',
            minimum: 1,
            maximum: 120_000,
            default: 60_000,
            description: 'Milliseconds after which the program is stopped',
          },
        },
        ['program'],
      ),
      requires: hostReady(),
      parallelSafe: false,
    },
    'host.fs.read_file': {
      name: 'host.fs.read_file',
      description: 'Reads a text file, or some of its lines.',
      parameters: input(
        {
          path: path('File'),
          startLine: { type: 'integer', minimum: 1, default: 1, description: 'First line, from 1' },
          maxLines: {
            type: 'integer',
            minimum: 1,
            maximum: 100_000,
            description: 'How many lines. Default: all',
          },
        },
        ['path'],
      ),
      ...reads(),
    },
    'host.fs.write_file': {
      name: 'host.fs.write_file',
      description:
        'Writes a text file. It creates the file or replaces its content, and creates missing ' +
        'folders.',
      parameters: input({ path: path('File'), content: text('The whole new content') }, [
        'path',
        'content',
      ]),
      ...writes(),
    },
    'host.fs.edit_file': {
      name: 'host.fs.edit_file',
      description:
        'Replaces a text in a file. The old text must occur exactly once, including white space, ' +
        'unless all occurrences are to be replaced.',
      parameters: input(
        {
          path: path('File'),
          oldText: {
            ...text('The exact current text, with enough context to be unique'),
            minLength: 1,
          },
          newText: text('The replacement; may be empty'),
          replaceAll: {
            type: 'boolean',
            default: false,
            description: 'Whether to replace every occurrence',
          },
        },
        ['path', 'oldText', 'newText'],
      ),
      ...writes(),
    },
    'host.fs.apply_patch': {
      name: 'host.fs.apply_patch',
      description:
        'Adds, changes and deletes text files with one patch. Nothing is written unless the ' +
        'whole patch applies. Format: *** Begin Patch, then one section per file, then ' +
        '*** End Patch. Sections: *** Add File: PATH, then its lines, each after a +. ' +
        '*** Delete File: PATH. *** Update File: PATH, then hunks: a line @@, then lines that ' +
        'stay (after a space), are removed (after a -) or are added (after a +), in the order of ' +
        'the file, with enough context to find the place.',
      parameters: input(
        { patch: { ...text('From *** Begin Patch to *** End Patch'), minLength: 1 } },
        ['patch'],
      ),
      ...writes(),
    },
    'host.fs.grep': {
      name: 'host.fs.grep',
      description:
        'Finds lines that contain a text, in a file or in all text files below a folder. Each ' +
        'match is shown as path:line: text.',
      parameters: input(
        {
          text: {
            type: 'string',
            minLength: 1,
            maxLength: 500,
            description: 'Plain text, not a pattern',
          },
          path: { ...path('File or folder'), default: '.' },
          ignoreCase: {
            type: 'boolean',
            default: false,
            description: 'Whether to ignore upper and lower case',
          },
          maxMatches: {
            type: 'integer',
            minimum: 1,
            maximum: 1_000,
            default: 100,
            description: 'The most lines to return',
          },
        },
        ['text'],
      ),
      ...reads(),
    },
    'host.fs.glob': {
      name: 'host.fs.glob',
      description:
        'Lists files whose path matches a pattern: * matches any part of a name, ? one ' +
        'character, ** any folders.',
      parameters: input(
        {
          pattern: {
            type: 'string',
            minLength: 1,
            maxLength: 500,
            description: 'Relative to the folder, such as src/**/*.ts',
          },
          path: { ...path('Folder'), default: '.' },
          maxMatches: {
            type: 'integer',
            minimum: 1,
            maximum: 10_000,
            default: 1_000,
            description: 'The most paths to return',
          },
        },
        ['pattern'],
      ),
      ...reads(),
    },
    'host.fs.stat': {
      name: 'host.fs.stat',
      description: 'Says whether a path is a file or a folder, and the size of a file in bytes.',
      parameters: input({ path: path('File or folder') }, ['path']),
      ...reads(),
    },
    'host.fs.exists': {
      name: 'host.fs.exists',
      description: 'Says whether a file or folder exists at a path.',
      parameters: input({ path: path('File or folder') }, ['path']),
      ...reads(),
    },
    'host.fs.list_dir': {
      name: 'host.fs.list_dir',
      description: 'Lists the files and folders in a folder by name, without those in its folders.',
      parameters: input({ path: { ...path('Folder'), default: '.' } }, []),
      ...reads(),
    },
  } as const satisfies { readonly [name: string]: ToolSpec };
}

function path(what: string) {
  return {
    type: 'string',
    minLength: 1,
    maxLength: 1_000,
    description: `${what}, relative to the root, with / between its parts`,
  } as const;
}

function text(description: string) {
  return { type: 'string', maxLength: 1_000_000, description } as const;
}

function input<const P, const R extends readonly (keyof P)[]>(properties: P, required: R) {
  return { type: 'object', properties, required, additionalProperties: false } as const;
}

function hostReady(): NonNullable<ToolSpec['requires']> {
  return [{ fact: 'hostSession.status', equals: 'ready' }];
}

function reads() {
  return { requires: hostReady(), parallelSafe: true } as const;
}

/** All writes share one key, since a patch may change many files. */
function writes() {
  return { requires: hostReady(), parallelSafe: true, resourceKey: 'host.fs' } as const;
}
