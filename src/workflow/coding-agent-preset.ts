/**
 * The tools of a coding agent as plans know them: an inventory with three profiles, for hosts that
 * bring the handlers.
 */
import type { InputOf, ParsedOf } from '../schema/schema.ts';
import { checkNames } from '../toolset/effective.ts';
import type { ToolSpec } from '../toolset/tool-spec.ts';

/** The name of a tool of the preset. */
export type CodingAgentToolName = keyof Inventory;

/** One tool of the preset. `defineTool({ ...tool, handler })` makes it a definition. */
export interface CodingAgentTool<Name extends CodingAgentToolName = CodingAgentToolName>
  extends ToolSpec {
  /** Stable id; what profiles know it by. */
  readonly name: Name;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /**
   * The input as JSON Schema. Nothing that it does not name is taken; paths are relative to the
   * host session's root.
   */
  readonly parameters: Inventory[Name]['parameters'];
}

/** What a caller may send to a tool of the preset. */
export type CodingAgentInput<Name extends CodingAgentToolName> = InputOf<
  Inventory[Name]['parameters']
>;
/** What the handler of a tool of the preset is given: the input with its defaults filled in. */
export type CodingAgentParsed<Name extends CodingAgentToolName> = ParsedOf<
  Inventory[Name]['parameters']
>;

/** What {@link codingAgentPreset} gives. */
export interface CodingAgentPreset {
  /**
   * The inventory, in this order: session.open, exec, read_file, write_file, edit_file,
   * apply_patch, grep, glob, stat, exists, list_dir.
   */
  tools: CodingAgentTool[];
  /**
   * Names in the order of `tools`: `openai` edits by `host.fs.apply_patch`, `anthropic` and
   * `gemini` by `host.fs.edit_file`; they share the rest.
   */
  profiles: Record<'openai' | 'anthropic' | 'gemini', string[]>;
  /** The selected profile. */
  profile: 'openai';
}

/**
 * Eleven tools of a coding agent, and which of them suit each provider's models;
 * `createWorkflow(codingAgentPreset())` needs no set-up event. All but `host.session.open` wait for
 * the fact `hostSession.status` to be `ready`. Reads run side by side, and beside one write; writes
 * share a resource key, so that no two overlap; `host.exec` and `host.session.open` run alone.
 * Plain data, fresh at each call: change it as you like.
 */
export function codingAgentPreset(): CodingAgentPreset {
  const tools = Object.values(inventory());
  const without = (name: CodingAgentToolName): string[] =>
    tools.map((tool) => tool.name).filter((one) => one !== name);
  return {
    tools,
    profiles: {
      openai: without('host.fs.edit_file'),
      anthropic: without('host.fs.apply_patch'),
      gemini: without('host.fs.apply_patch'),
    },
    profile: 'openai',
  };
}

/**
 * One tool of the preset, with the types of its input: a handler beside it is checked by the
 * compiler.
 * @throws MisuseError `unknown_tool`
 */
export function codingAgentTool<Name extends CodingAgentToolName>(
  name: Name,
): CodingAgentTool<Name> {
  const tools = inventory();
  checkNames([String(name)], new Map(Object.entries(tools)), 'name');
  return tools[name] as CodingAgentTool<Name>;
}

type Inventory = ReturnType<typeof inventory>;

function inventory() {
  return {
    'host.session.open': {
      name: 'host.session.open',
      description:
        'Opens the host session, which gives access to the files and programs of the ' +
        'repository. Call it first: the other host tools are there from the next turn on.',
      parameters: input({}, []),
      provides: ['hostSession.status', 'hostSession.id'],
      parallelSafe: false,
    },
    'host.exec': {
      name: 'host.exec',
      description:
        'Runs a program with its arguments, without a shell, and gives its exit code and what ' +
        'it wrote. Prefer the file tools for reading, searching and editing.',
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
            description: 'Arguments, one an item; nothing is quoted or expanded',
          },
          cwd: { ...path('Folder to run in'), default: '.' },
          timeoutMs: {
            type: 'integer',
            minimum: 1,
            maximum: 120_000,
            default: 60_000,
            description: 'Milliseconds after which it is ended',
          },
        },
        ['program'],
      ),
      requires: hostReady(),
      parallelSafe: false,
    },
    'host.fs.read_file': {
      name: 'host.fs.read_file',
      description: 'Reads a text file, whole or some of its lines.',
      parameters: input(
        {
          path: path('File'),
          startLine: { type: 'integer', minimum: 1, default: 1, description: 'First line, from 1' },
          maxLines: {
            type: 'integer',
            minimum: 1,
            maximum: 100_000,
            description: 'How many lines; without it, all',
          },
        },
        ['path'],
      ),
      ...reads(),
    },
    'host.fs.write_file': {
      name: 'host.fs.write_file',
      description:
        'Writes a text file, new or in place of the one that is there; folders that are ' +
        'missing are made.',
      parameters: input({ path: path('File'), content: text('The whole new content') }, [
        'path',
        'content',
      ]),
      ...writes(),
    },
    'host.fs.edit_file': {
      name: 'host.fs.edit_file',
      description:
        'Replaces a text in a file by another. The old text must be there exactly once, white ' +
        'space included, unless all are to be replaced.',
      parameters: input(
        {
          path: path('File'),
          oldText: {
            ...text('What is there now, exact, with enough around it to be the only one'),
            minLength: 1,
          },
          newText: text('What is to be there instead; may be empty'),
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
        'Adds, changes and deletes text files by one patch; nothing is written unless all of ' +
        'it fits. Its lines: *** Begin Patch, then a section a file, then *** End Patch. ' +
        ('Sections: *** Add File: PATH, then its lines, each after a +. *** Delete File: PATH. ' +
          '*** Update File: PATH, then hunks: a line @@, then lines that stay (after a ') +
        ('space), go (after a -) or come (after a +), in the order of the file, with enough ' +
          'that stay to find the place.'),
      parameters: input(
        { patch: { ...text('From *** Begin Patch to *** End Patch'), minLength: 1 } },
        ['patch'],
      ),
      ...writes(),
    },
    'host.fs.grep': {
      name: 'host.fs.grep',
      description:
        'Finds the lines that hold a text, in a file or in all text files below a folder, as ' +
        'path:line: text.',
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
            description: 'Whether upper and lower case are the same',
          },
          maxMatches: {
            type: 'integer',
            minimum: 1,
            maximum: 1_000,
            default: 100,
            description: 'Most lines to give',
          },
        },
        ['text'],
      ),
      ...reads(),
    },
    'host.fs.glob': {
      name: 'host.fs.glob',
      description:
        'Lists the files whose path matches a pattern: * is any part of a name, ? one ' +
        'character of it, ** any folders.',
      parameters: input(
        {
          pattern: {
            type: 'string',
            minLength: 1,
            maxLength: 500,
            description: 'Such as src/**/*.ts, from the folder',
          },
          path: { ...path('Folder'), default: '.' },
          maxMatches: {
            type: 'integer',
            minimum: 1,
            maximum: 10_000,
            default: 1_000,
            description: 'Most paths to give',
          },
        },
        ['pattern'],
      ),
      ...reads(),
    },
    'host.fs.stat': {
      name: 'host.fs.stat',
      description: 'Tells what stands at a path, file or folder, and how many bytes a file has.',
      parameters: input({ path: path('File or folder') }, ['path']),
      ...reads(),
    },
    'host.fs.exists': {
      name: 'host.fs.exists',
      description: 'Tells whether there is a file or folder at a path.',
      parameters: input({ path: path('File or folder') }, ['path']),
      ...reads(),
    },
    'host.fs.list_dir': {
      name: 'host.fs.list_dir',
      description: 'Lists what a folder holds, by name; not what its folders hold.',
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
    description: `${what}, from the root, with / between its parts`,
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

/** One key for all: a patch may name many files, so nothing less keeps two writes apart. */
function writes() {
  return { requires: hostReady(), parallelSafe: true, resourceKey: 'host.fs' } as const;
}
