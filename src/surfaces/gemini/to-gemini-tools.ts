/** A session's tools in the form of the Gemini API. */
import type { ToolSession } from '../../core.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import { listingOf, type SurfaceWarning } from '../shared/listing.ts';
import type {
  GeminiFunctionCall,
  GeminiFunctionDeclaration,
  GeminiFunctionResponsePart,
  GeminiTool,
} from './api-shapes.ts';
import { apiSchemaDialect, jsonSchemaDialect } from './dialects.ts';
import { dispatchGemini } from './dispatch-gemini.ts';

/** Which form the tools have. */
export interface GeminiToolsOptions {
  /**
   * The form of the schemas. `json-schema`: JSON Schema, which loses least. `openapi`: the API's
   * own subset, for models and gateways that take nothing else.
   * @default "json-schema"
   */
  readonly schema?: 'json-schema' | 'openapi' | undefined;
}

/** Tools for a request, and how their names map back. */
export interface GeminiTools {
  /**
   * One tool with all functions, or no tool if the session has none. The objects are new, so you
   * may change them.
   */
  tools: GeminiTool[];
  /** The same functions as a tool that the client calls itself (automatic function calling). */
  readonly callable: GeminiCallableTool;
  /** Maps each shown name to the tool's name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Differences between a shown schema and the tool's own. */
  readonly warnings: readonly SurfaceWarning[];
}

/** A tool that the client calls itself. Add it to `config.tools`. */
export interface GeminiCallableTool {
  /** Returns the functions that are effective now. */
  tool: () => Promise<GeminiTool>;
  /** Runs calls as {@link dispatchGemini} does. */
  callTool: (functionCalls: readonly GeminiFunctionCall[]) => Promise<GeminiFunctionResponsePart[]>;
}

const optionTable = {
  schema: withDefault(oneOf('json-schema', 'openapi'), 'json-schema'),
} satisfies TableOf<GeminiToolsOptions>;

/**
 * Returns the session's effective tools for a request to Gemini. A schema is converted once,
 * whatever the number of steps and sessions.
 * @throws MisuseError `invalid_option` for a wrong `schema` and for unknown options.
 *
 * @example
 * ```ts
 * import { toGeminiTools } from 'host-tools/gemini';
 *
 * const { tools } = toGeminiTools(session);
 * // ai.models.generateContent({ model, contents, config: { tools } });
 * ```
 */
export function toGeminiTools(session: ToolSession, options?: GeminiToolsOptions): GeminiTools {
  const { schema } = readOptions('toGeminiTools', options, optionTable);
  const { nameMap, warnings } = listingOf(
    session,
    schema === 'openapi' ? apiSchemaDialect : jsonSchemaDialect,
  );
  const functionDeclarations = declarations(session, schema);
  return {
    tools: functionDeclarations.length === 0 ? [] : [{ functionDeclarations }],
    callable: {
      tool: async () => ({ functionDeclarations: declarations(session, schema) }),
      callTool: (functionCalls) => dispatchGemini(session, functionCalls),
    },
    nameMap,
    warnings,
  };
}

function declarations(
  session: ToolSession,
  schema: 'json-schema' | 'openapi',
): GeminiFunctionDeclaration[] {
  const { shown } = listingOf(session, schema === 'openapi' ? apiSchemaDialect : jsonSchemaDialect);
  return shown.map(
    ({ name, tool: { description }, schema: converted }): GeminiFunctionDeclaration => {
      if (schema === 'json-schema') return { name, description, parametersJsonSchema: converted };
      // The API refuses an object without properties, so a function without parameters has no
      // schema.
      const empty =
        converted.properties === undefined ||
        Object.keys(converted.properties as object).length === 0;
      return {
        name,
        description,
        ...(empty ? {} : { parameters: converted as { [keyword: string]: never } }),
      };
    },
  );
}
