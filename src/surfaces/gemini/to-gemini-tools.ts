import type { ToolSession } from '../../index.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../../options.ts';
import { listingOf, type SurfaceWarning } from '../shared/listing.ts';
import type {
  GeminiFunctionCall,
  GeminiFunctionDeclaration,
  GeminiFunctionResponsePart,
  GeminiTool,
} from './api-shapes.ts';
import { apiSchemaDialect, jsonSchemaDialect } from './dialects.ts';
import { dispatchGemini } from './dispatch-gemini.ts';

/** How tools are shown. */
export interface GeminiToolsOptions {
  /**
   * `json-schema`: as JSON Schema, which loses least. `openapi`: in the API's own subset, for
   * models and gateways that take no other. @default "json-schema"
   */
  readonly schema?: 'json-schema' | 'openapi' | undefined;
}

/** Tools for a request, with the way back. */
export interface GeminiTools {
  /**
   * One tool with all functions; none where the session has no tools. Fresh objects, the host's to
   * change.
   */
  tools: GeminiTool[];
  /** The same as one tool that the client calls itself (automatic function calling). */
  readonly callable: GeminiCallableTool;
  /** Shown name to tool name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Where a shown schema says less than the tool's own, or something else. */
  readonly warnings: readonly SurfaceWarning[];
}

/** A tool that the client calls itself: it goes into `config.tools`. */
export interface GeminiCallableTool {
  /** The functions at the time when it is asked. */
  tool: () => Promise<GeminiTool>;
  /** Runs calls as {@link dispatchGemini} does. */
  callTool: (functionCalls: readonly GeminiFunctionCall[]) => Promise<GeminiFunctionResponsePart[]>;
}

const optionTable = {
  schema: withDefault(oneOf('json-schema', 'openapi'), 'json-schema'),
} satisfies TableOf<GeminiToolsOptions>;

/**
 * The session's effective tools for a request. Schemas are converted once, whatever the number of
 * steps and sessions.
 * @throws MisuseError `invalid_option` for a `schema` that is none, and for unknown options.
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
      // An object without properties is refused; a function without parameters has none.
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
