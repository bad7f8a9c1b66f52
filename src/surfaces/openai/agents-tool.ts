/** Tools for the OpenAI Agents SDK: objects like its `FunctionTool` that call the session. */
import { MisuseError, type ToolSession } from '../../core.ts';
import { type AnsweredCall, dispatchCalls } from '../shared/dispatch.ts';
import type { Listing, ShownTool } from '../shared/listing.ts';
import { commonImages, shownMedia } from '../shared/outcome.ts';
import { freshCallId, idOf, member } from '../shared/payload.ts';
import type { OpenAIAgentsOutput, OpenAIAgentsSchema, OpenAIAgentsTool } from './api-shapes.ts';
import { openaiSurface } from './dialects.ts';

const accepted = [...commonImages, 'application/pdf'];

/** The Agents SDK's function `tool`. */
export type OpenAIAgentsToolFactory = (options: never) => unknown;

/**
 * The SDK's own function for "needs no approval". The SDK assumes that any other function wants to
 * read the arguments, and stops the run for an approval if they are not JSON.
 */
export function approvalPolicyOf(
  factory: OpenAIAgentsToolFactory | undefined,
): () => Promise<boolean> {
  if (factory === undefined) return async () => false;
  const parameters = { type: 'object', properties: {}, required: [], additionalProperties: false };
  const made = factory({
    name: 'policy',
    description: 'Provides its policy.',
    parameters,
    strict: true,
    needsApproval: false,
    execute: () => '',
  } as never);
  const policy: unknown = member(made, 'needsApproval');
  if (typeof policy !== 'function')
    throw new MisuseError(
      'invalid_option',
      'toOpenAITools: expected `tool` to be the function `tool` of @openai/agents.',
    );
  return policy as () => Promise<boolean>;
}

/** Makes one tool. It is bound to the tool's name, which the session looks up at each call. */
export function agentsTool(
  session: ToolSession,
  { shownName }: Listing,
  { name, tool, schema, strict }: ShownTool,
  needsApproval: () => Promise<boolean>,
): OpenAIAgentsTool {
  return {
    type: 'function',
    name,
    description: tool.description,
    parameters: (strict
      ? schema
      : {
          properties: {},
          required: [],
          additionalProperties: true,
          ...schema,
        }) as unknown as OpenAIAgentsSchema,
    strict,
    needsApproval,
    isEnabled: async () => true,
    invoke: async (_runContext, input, details) => {
      const given = idOf(details?.toolCall?.callId);
      const id = given === '' ? freshCallId(session) : given;
      const known = new Map([[name, tool.name]]);
      const [answer] = await dispatchCalls(
        session,
        { known, shown: [], shownName },
        [{ id, name, input }],
        openaiSurface,
        details?.signal,
      );
      const { text, parts } = (answer as AnsweredCall).outcome;
      return parts === undefined ? text : outputOf(text, parts);
    },
  };
}

/** Returns one text if all parts are texts, because every model accepts a plain string. */
function outputOf(
  text: string,
  parts: Parameters<typeof shownMedia>[0],
): string | OpenAIAgentsOutput[] {
  const media = shownMedia(parts, accepted);
  if (media.every(({ kind }) => kind === 'text')) return text;
  return media.map((one): OpenAIAgentsOutput => {
    if (one.kind === 'text') return { type: 'text', text: one.text };
    const { data, mimeType: mediaType, name } = one;
    return commonImages.includes(mediaType)
      ? { type: 'image', image: { data, mediaType } }
      : { type: 'file', file: { data, mediaType, filename: name ?? 'file.pdf' } };
  });
}
