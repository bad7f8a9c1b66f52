/** Conversations over real sessions, with what `originRules` recommends. */
import { defineTool, HostToolRegistry, originRules } from '../../src/index.ts';
import type { JsonValue } from '../../src/values/json/index.ts';
import type { Conversation, MakeConversation } from './replay.ts';

/** Recorded outputs are replayed whole. */
const maxOutput = 1_000_000;

export const overSession: MakeConversation = (tools, labels): Conversation => {
  let result: JsonValue = null;
  let wasAsked = false;
  const registry = new HostToolRegistry({ rules: originRules() });
  for (const [name, { description, parameters }] of Object.entries(tools)) {
    const { readOnly = false, openWorld = false, origin = 'trusted' } = labels[name] ?? {};
    registry.register(
      defineTool({
        name,
        description,
        parameters,
        annotations: { readOnly, openWorld },
        origin,
        maxOutputChars: maxOutput,
        handler: () => result,
      }),
    );
  }
  registry.defineProfile({
    id: 'labelled',
    tools: Object.keys(tools).map((name) => {
      const { origins, roles } = labels[name] ?? {};
      return { name, origins, roles };
    }),
  });
  const session = registry.createSession({
    sessionId: 'replayed',
    profile: 'labelled',
    approver: () => {
      wasAsked = true;
      return 'allow_once';
    },
  });
  return {
    said: (text) => session.said(text),
    async call({ function: name, args, result: recorded }) {
      wasAsked = false;
      result = recorded;
      const { error } = await session.call(name, args);
      if (error !== undefined)
        throw new Error(`bench:origins: ${name} did not run: ${error.code}: ${error.message}`);
      return wasAsked;
    },
  };
};
