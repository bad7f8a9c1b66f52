/** Conversations over real sessions, with what `originRules` recommends. */
import {
  type CodeOptions,
  defineTool,
  HostToolRegistry,
  originRules,
  type ToolResult,
} from '../../src/index.ts';
import type { Call } from './data.ts';
import type { Conversation, MakeConversation } from './replay.ts';

/** Recorded outputs are replayed whole. */
const maxOutput = 1_000_000;

/** Each call as a call of the session. */
export const overSession: MakeConversation = (tools, labels): Conversation => {
  const { session, registry, playing } = open(tools, labels, undefined);
  return {
    said: (text) => session.said(text),
    async run(calls) {
      const asked = playing(calls);
      for (const { function: name, args } of calls) ended(name, await session.call(name, args));
      return asked;
    },
    close: () => registry.close(),
  };
};

/** All calls of a plan in one program. */
export const overCode: MakeConversation = (tools, labels): Conversation => {
  const { session, registry, playing } = open(tools, labels, {});
  return {
    said: (text) => session.said(text),
    async run(calls) {
      const asked = playing(calls);
      const code = calls
        .map(({ function: name, args }) => {
          const input = JSON.stringify(JSON.stringify(args));
          return `await tools[${JSON.stringify(name)}](JSON.parse(${input}));`;
        })
        .join('\n');
      ended('run_code', await session.call('run_code', { code: `${code}\nreturn null;` }));
      return asked;
    },
    close: () => registry.close(),
  };
};

function ended(name: string, { error }: ToolResult): void {
  if (error !== undefined)
    throw new Error(`bench:origins: ${name} did not run: ${error.code}: ${error.message}`);
}

/** A session in which recorded calls run. */
function open(
  ...[tools, labels, code]: [...Parameters<MakeConversation>, CodeOptions | undefined]
) {
  let left: readonly Call[] = [];
  let asked: Call[] = [];
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
        handler: () => {
          const [call, ...others] = left;
          left = others;
          return call?.result ?? null;
        },
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
    code,
    approver: () => {
      // They run one after another, so it is about the next one.
      asked.push(left[0] as Call);
      return 'allow_once';
    },
  });
  return {
    session,
    registry,
    /** These are the calls that come. Those that are asked about are added to the list. */
    playing(calls: readonly Call[]): readonly Call[] {
      left = calls;
      asked = [];
      return asked;
    },
  };
}
