/**
 * A tool as a server describes it, made a definition: nothing of the description is believed, and
 * nothing of it can loosen a gate.
 */
import {
  type AnyTool,
  type Executor,
  type JsonObject,
  type JsonValue,
  MisuseError,
  type ToolAnnotations,
} from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { gateSchema } from '../../schema/gate.ts';
import type { SharedPatterns } from '../../schema/pattern-budget.ts';
import { createDefinition, type OutsideOrigin } from '../../surface-port.ts';
import { cleanLine, cleanSchema, cleanText } from '../../surfaces/shared/outside-text.ts';

/** Most bytes of a description. */
const maxDescriptionBytes = 8_192;
/** Most characters of a name, prefix included. */
const maxNameChars = 1_024;

/** What a definition is made with. */
export interface DefinitionOptions {
  readonly prefix: string;
  /** Milliseconds. */
  readonly timeoutMs: number | undefined;
  /** `mcp:<server>`. */
  readonly source: string;
  /** What the patterns of the whole listing may cost; drawn on. */
  readonly patterns: SharedPatterns;
  /** Where calls go, by the name that the server knows. */
  executorOf(tool: ServerTool): Executor;
  /** Whether a definition stands, and where. */
  originOf(name: string): OutsideOrigin;
}

/** What a call needs of a tool. */
export interface ServerTool {
  /** The server's own name for it. */
  readonly name: string;
  /** Checked by the gate. */
  readonly inputSchema: JsonObject;
  /** It declares an output schema: its structured content is the output. */
  readonly structured: boolean;
}

/** The name a tool has in messages and reports, whatever the server gave. */
export function reportedName(raw: unknown): string {
  const name = isJsonObject(raw) ? raw.name : undefined;
  return cleanLine(name, 200) || '(no name)';
}

/**
 * Makes a definition from one entry of a listing, which must be a private JSON copy. It has no
 * title: nothing pins one. @throws MisuseError whose message says what is wrong with it
 */
export function defineServerTool(raw: unknown, options: DefinitionOptions): AnyTool {
  if (!isJsonObject(raw)) throw new MisuseError('invalid_definition', 'It is no object.');
  const { name, description, inputSchema, outputSchema, annotations } = raw;
  if (typeof name !== 'string') throw new MisuseError('invalid_definition', 'It has no name.');
  const ownName = options.prefix + name;
  if (ownName.length > maxNameChars)
    throw new MisuseError(
      'invalid_definition',
      `Its name is longer than ${maxNameChars} characters.`,
    );
  if (!isJsonObject(inputSchema))
    throw new MisuseError('invalid_schema', 'Its `inputSchema` is no object.');
  const parameters = cleanSchema(gateSchema(inputSchema, options.patterns));
  const output =
    outputSchema === undefined || outputSchema === null
      ? undefined
      : cleanSchema(gateSchema(outputSchema, options.patterns));
  const said = typeof description === 'string' ? cleanText(description, maxDescriptionBytes) : '';
  return createDefinition(
    {
      name: ownName,
      description: said || `A tool of the server ${options.source} that it does not describe.`,
      parameters,
      ...(output === undefined ? {} : { outputSchema: output }),
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
      annotations: cautious(annotations),
      tags: ['untrusted'],
      category: options.source,
      executor: options.executorOf({
        name,
        inputSchema: parameters as JsonObject,
        structured: output !== undefined,
      }),
    },
    undefined,
    options.originOf(ownName),
  );
}

/**
 * The protocol's own defaults: a tool may destroy and may reach out, unless its server says that it
 * does not. `readOnly` and `idempotent` would let the library itself do more with a tool, such as
 * run it beside others: no server's word is enough for that.
 */
function cautious(annotations: JsonValue | undefined): ToolAnnotations {
  const { destructiveHint, openWorldHint } = isJsonObject(annotations) ? annotations : {};
  return {
    ...(destructiveHint === false ? {} : { destructive: true }),
    ...(openWorldHint === false ? {} : { openWorld: true }),
  };
}
