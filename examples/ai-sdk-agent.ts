// tsx examples/ai-sdk-agent.ts: an agent of the AI SDK over governed tools. The model is the SDK's
// own mock, so that nothing leaves this machine.
import assert from 'node:assert/strict';
import { generateText, type ModelMessage, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../src/index.ts';
import { type AiSdkResult, toAiSdkTools } from '../src/surfaces/ai-sdk/index.ts';

const accounts = new Map([['savings', 120_000]]);
const balance = defineTool({
  name: 'bank.balance',
  description: 'The balance of an account, in cents.',
  annotations: { readOnly: true },
  parameters: z.object({ account: z.enum(['savings']) }),
  handler: ({ account }) => ({ cents: accounts.get(account) ?? 0 }),
});
const transfer = defineTool({
  name: 'bank.transfer',
  description: 'Sends money from the savings account.',
  annotations: { destructive: true },
  parameters: z.object({ to: z.string().min(1), cents: z.number().int().positive() }),
  requiresApproval: ({ to, cents }) =>
    cents < 1_000 ? false : { title: `Send ${cents / 100} to ${to}?`, risk: 'high' },
  handler: ({ to, cents }) => {
    accounts.set('savings', (accounts.get('savings') ?? 0) - cents);
    return `${cents} cents sent to ${to}`;
  },
});

type Turn = string | { id: string; name: string; input: object }[];
const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** A model that says one turn after another. */
function scripted(...turns: Turn[]): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: turns.map((turn) => ({
      content:
        typeof turn === 'string'
          ? [{ type: 'text' as const, text: turn }]
          : turn.map(({ id, name, input }) => ({
              type: 'tool-call' as const,
              toolCallId: id,
              toolName: name,
              input: JSON.stringify(input),
            })),
      finishReason: {
        unified: typeof turn === 'string' ? ('stop' as const) : ('tool-calls' as const),
        raw: undefined,
      },
      usage,
      warnings: [],
    })),
  });
}

const registry = new HostToolRegistry({
  rules: [
    { effect: 'deny', tools: 'bank.transfer', when: { to: 'mallory' }, reason: 'blocked_payee' },
  ],
});
registry.registerAll([balance, transfer]);
const session = registry.createSession({ sessionId: 'chat-1' });
const { tools, repairToolCall } = toAiSdkTools(session, { approvals: 'sdk' });
const settings = {
  tools,
  stopWhen: stepCountIs(10),
  experimental_repairToolCall: repairToolCall,
  experimental_toolApprovalSecret: 'a secret of the server, 32 bytes',
};
const history: ModelMessage[] = [
  { role: 'user', content: 'Pay the rent to Alice, and 5 to Mallory.' },
];

// The gates answer three calls at once; the fourth waits for a person, and the SDK hands it to the
// host.
const first = await generateText({
  ...settings,
  model: scripted([
    { id: 'c1', name: 'bank_balance', input: { account: 'savings' } },
    { id: 'c2', name: 'bank_transfer', input: { to: 'mallory', cents: 500 } },
    { id: 'c3', name: 'bank_transfer', input: { to: 'alice', cents: '90000' } },
    { id: 'c4', name: 'bank_transfer', input: { to: 'alice', cents: 90_000 } },
  ]),
  messages: history,
});
for (const part of first.content) {
  if (part.type === 'tool-result') {
    const result = part.output as AiSdkResult;
    console.log(
      part.toolCallId,
      JSON.stringify(result.success ? result.output : result.error.message),
    );
  }
  if (part.type === 'tool-approval-request')
    console.log(part.toolCall.toolCallId, 'waits for a person');
}
const [question] = await session.approvals.pending();
console.log(`  ${question?.title} (${question?.risk})`);

// The person says yes, and the run goes on.
const requests = first.content.filter((part) => part.type === 'tool-approval-request');
history.push(...first.response.messages, {
  role: 'tool',
  content: requests.map(({ approvalId }) => ({
    type: 'tool-approval-response' as const,
    approvalId,
    approved: true,
  })),
});
const second = await generateText({
  ...settings,
  model: scripted('The rent is paid. Mallory is blocked.'),
  messages: history,
});
console.log(second.text);

assert.equal(accounts.get('savings'), 30_000);
assert.deepEqual(session.metrics().byReason, { blocked_payee: 1, invalid_input: 1 });
await registry.close();
