/**
 * Tools of the OpenAI Agents SDK: objects of its `FunctionTool` shape whose calls go through the
 * session.
 */
import { MisuseError, type ToolSession } from '../../index.ts';
import { freshCallId } from '../shared/call-ids.ts';
import { type AnsweredCall, dispatchCalls } from '../shared/dispatch.ts';
import type { Listing, ShownTool } from '../shared/listing.ts';
import { commonImages, shownMedia } from '../shared/media.ts';
import { idOf, member } from '../shared/payload.ts';
import type { OpenAIAgentsOutput, OpenAIAgentsSchema, OpenAIAgentsTool } from './api-shapes.ts';
import { openaiSurface } from './dialects.ts';

const accepted = [...commonImages, 'application/pdf'];

/** The Agents SDK's `tool`. Nothing is asked of it but what it makes. */
export type OpenAIAgentsToolFactory = (options: never) => unknown;

/**
 * The policy "no approval", as the SDK knows it. It takes a function that it did not make itself
 * for one that wants to see the arguments, and stops a run for a person where they are no JSON.
 */
export function approvalPolicyOf(
  factory: OpenAIAgentsToolFactory | undefined,
): () => Promise<boolean> {
  if (factory === undefined) return async () => false;
  const parameters = { type: 'object', properties: {}, required: [], additionalProperties: false };
  const made = factory({
    name: 'policy',
    description: 'Lends its policy.',
    parameters,
    strict: true,
    needsApproval: false,
    execute: () => '',
  } as never);
  const policy: unknown = member(made, 'needsApproval');
  if (typeof policy !== 'function')
    throw new MisuseError(
      'invalid_option',
      'toOpenAITools: expected `tool` to be `tool` of @openai/agents.',
    );
  return policy as () => Promise<boolean>;
}

/**
 * One tool. It stays bound to its tool's name: what the session says of it at the time of the call
 * counts, and not what it said when it was listed.
 */
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

/** Parts only where there is something but text: a plain string is what every model takes. */
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
