/** The text of docs/errors.md: the codes from their one table, the reasons from the list below. */
import { type ErrorCode, errorCodes, type MisuseCode } from '../../src/index.ts';

/** The reasons that the library gives itself. Whatever else stands in `reason` comes from a host's rule, policy, check, hook or `fail()`. */
export const reasons: readonly { readonly code: ErrorCode; readonly reason: string; readonly meaning: string }[] = [
  {
    code: 'tool_not_available',
    reason: 'fact_unmet',
    meaning: 'A fact that the tool requires does not hold; `details.fact` names it, `details.unlockedBy` the tool that can bring it about.',
  },
  { code: 'tool_not_available', reason: 'disabled', meaning: 'Disabled by an override or by its registration.' },
  { code: 'tool_not_available', reason: 'not_in_profile', meaning: "Not in the session's profile." },
  { code: 'tool_not_available', reason: 'knobs_missing', meaning: "The tool's knobs refuse `{}` and no profile gives them." },
  { code: 'tool_not_available', reason: 'not_listed', meaning: 'In a workflow: the tool came after the model was last shown its tools.' },
  {
    code: 'tool_not_available',
    reason: 'removed',
    meaning: 'Removed since the session began, or removed or replaced while the call waited; of an imported tool: its server has it no more.',
  },
  {
    code: 'tool_not_available',
    reason: 'definition_changed',
    meaning: 'An imported tool whose definition changed, or was never accepted, until somebody accepts it.',
  },
  { code: 'tool_not_available', reason: 'not_declared', meaning: 'A handler called a tool that its definition does not name in `uses`.' },
  { code: 'invalid_input', reason: 'invalid_option', meaning: 'An option of the call is unknown, or its value is wrong.' },
  { code: 'invalid_input', reason: 'not_json', meaning: 'The arguments hold what JSON cannot: a function, a cycle, NaN.' },
  { code: 'invalid_input', reason: 'not_an_object', meaning: 'The arguments are no JSON object.' },
  { code: 'invalid_input', reason: 'too_large', meaning: 'More than `maxInputBytes`, or more than [50 000 values](schemas.md#the-input-before-and-after).' },
  { code: 'invalid_input', reason: 'too_deep', meaning: 'Nested deeper than 64.' },
  { code: 'invalid_input', reason: 'unsafe_key', meaning: 'A member is named `__proto__`, and the schema is no raw JSON Schema.' },
  { code: 'invalid_input', reason: 'invalid_call_id', meaning: 'The call id is no text of 1 to 1024 characters. No event is sent.' },
  { code: 'policy_denied', reason: 'denied_by_rule', meaning: 'A rule without a `reason` of its own.' },
  { code: 'policy_denied', reason: 'approval_not_asked', meaning: 'A conversation says that a person approved the call, and nobody was ever asked about it.' },
  { code: 'policy_denied', reason: 'denied_by_default', meaning: 'Nothing allowed the call, and the default is `deny`.' },
  {
    code: 'policy_error',
    reason: 'policy_threw',
    meaning: 'A policy, a `check` or `requiresApproval` threw, rejected or, for `requiresApproval`, took too long.',
  },
  { code: 'policy_error', reason: 'policy_timeout', meaning: 'A policy or a `check` took longer than `policyTimeoutMs`.' },
  { code: 'policy_error', reason: 'policy_nonsense', meaning: 'The answer was no decision, or a deny without a well-formed reason.' },
  { code: 'policy_error', reason: 'hook_failed', meaning: 'A before hook threw, took too long or answered nonsense.' },
  { code: 'policy_error', reason: 'resource_key_failed', meaning: '`resourceKey` threw or gave no text.' },
  { code: 'policy_error', reason: 'rules_over_budget', meaning: 'Judging the arguments by the rules would cost more than it may. Send less.' },
  { code: 'policy_error', reason: 'rules_unstable', meaning: 'The rules changed eight times while the call was judged. Retryable.' },
  { code: 'approval_pending', reason: 'approval_required', meaning: 'Suspended until a person answers.' },
  { code: 'approval_denied', reason: 'rejected', meaning: 'A person said no.' },
  { code: 'approval_denied', reason: 'rejected_always', meaning: 'A standing rejection answered.' },
  { code: 'approval_denied', reason: 'no_approver', meaning: 'Neither the session nor the surface has an `approver`.' },
  {
    code: 'approval_denied',
    reason: 'secret_in_prompt',
    meaning: 'A secret of the call stands in the title or the message of the question. Nobody was asked.',
  },
  {
    code: 'approval_denied',
    reason: 'input_not_shown',
    meaning: 'The call has too many secrets, or they could not be found within their bounds. Nobody was asked.',
  },
  { code: 'approval_denied', reason: 'approver_failed', meaning: 'The approver threw or rejected.' },
  { code: 'approval_denied', reason: 'invalid_answer', meaning: 'The approver answered in a wrong form, or with an input that is no JSON. Nobody refused.' },
  { code: 'approval_denied', reason: 'approval_in_child', meaning: 'A child call cannot be suspended.' },
  { code: 'approval_denied', reason: 'store_unavailable', meaning: 'The approval store failed or took longer than `policyTimeoutMs`.' },
  { code: 'approval_denied', reason: 'token_invalid', meaning: 'The token is not genuine, or the stored record is not what it signed.' },
  { code: 'approval_denied', reason: 'token_used', meaning: 'The call was answered before.' },
  { code: 'approval_denied', reason: 'token_foreign', meaning: 'The token belongs to another session id or principal.' },
  { code: 'approval_denied', reason: 'definition_changed', meaning: 'The tool is not the one that the person was asked about.' },
  { code: 'approval_timeout', reason: 'timeout', meaning: 'Nobody answered within `approvalTimeoutMs`.' },
  { code: 'approval_timeout', reason: 'expired', meaning: 'The token is older than `approvals.ttlMs`.' },
  { code: 'timeout', reason: 'timeout', meaning: 'The handler took longer than its timeout.' },
  { code: 'timeout', reason: 'idle_timeout', meaning: 'The handler reported no progress for `idleTimeoutMs`.' },
  { code: 'cancelled', reason: 'parent_ended', meaning: 'A handler called a tool after its own call had ended.' },
  { code: 'invalid_output', reason: 'not_json', meaning: 'The output holds what JSON cannot; `details.path` says where.' },
  { code: 'invalid_output', reason: 'output_schema', meaning: 'The output does not fit `outputSchema`.' },
  {
    code: 'invalid_output',
    reason: 'output_too_large',
    meaning: 'Too deep or too large for a snapshot; or over its budget with an `outputSchema`, under which nothing is cut.',
  },
  { code: 'rate_limited', reason: 'calls_per_minute', meaning: 'Over `callsPerMinute`; `details.retryAfterMs` says how long to wait.' },
  { code: 'rate_limited', reason: 'queue_full', meaning: 'Over `maxQueuedCalls`.' },
  { code: 'rate_limited', reason: 'queue_timeout', meaning: 'Waited longer than `queueTimeoutMs` for a slot or a lock.' },
  { code: 'rate_limited', reason: 'deadlock', meaning: 'The call would wait for what only its own callers hold. Not retryable.' },
  { code: 'rate_limited', reason: 'too_many_approvals', meaning: 'Over `maxPendingApprovals`.' },
  { code: 'loop_detected', reason: 'identical_calls', meaning: 'More identical calls in a row than `loopGuard` allows.' },
  { code: 'tool_cycle', reason: 'cycle', meaning: 'The tool is in its own chain of callers.' },
  { code: 'tool_cycle', reason: 'too_deep', meaning: 'A chain of more than 8 child calls.' },
  { code: 'handler_error', reason: 'mcp_tool_error', meaning: 'The MCP server of an imported tool answered that the tool failed.' },
  { code: 'handler_error', reason: 'mcp_error', meaning: 'The MCP server refused the call by an error of the protocol; `details.code` is its code.' },
  { code: 'handler_error', reason: 'mcp_invalid_result', meaning: 'The MCP server answered what is no result.' },
  { code: 'executor_lost', reason: 'node_lost', meaning: 'The relay node that ran the call went away, and the tool may not run twice.' },
  { code: 'executor_lost', reason: 'result_not_kept', meaning: "The call has run, and the relay's store did not take its result, such as for want of room." },
  { code: 'executor_lost', reason: 'store_unavailable', meaning: 'The relay cannot reach its store.' },
  { code: 'handler_error', reason: 'result_too_large', meaning: 'The MCP server answered more than 4 MB.' },
];

const misuse: Readonly<Record<MisuseCode, string>> = {
  invalid_definition: 'A field of a definition is missing or wrong.',
  invalid_schema: 'A schema cannot be used, or cannot be turned into JSON Schema.',
  invalid_option: 'An option is unknown or out of its range.',
  duplicate_name: 'A tool or a scope of this name exists already.',
  name_conflict: 'A name could be mistaken for one that exists, or belongs to somebody else.',
  unknown_tool: 'A profile or an override names a tool that does not exist.',
  unknown_profile: 'No profile has this id.',
  unknown_knob: 'A profile gives a knob that the tool does not have, or a value that it refuses.',
  invalid_rule: 'A rule is malformed.',
  foreign_definition: 'The definition was made by another installed copy of the library, or by none.',
  closed: 'The registry, session or scope is closed.',
  missing_dependency: 'A package cannot be loaded. The message has the line that installs it, or says why it failed to load though it is installed.',
  invalid_file: 'A file of tools, profiles, rules, a trace or a tape cannot be read, or is not what it should be.',
};

/** The whole page. */
export function errorsPage(): string {
  const codes = Object.entries(errorCodes).map(
    ([code, { meaning, retryable, status, http }]) => `| \`${code}\` | ${meaning} | \`${status}\` | ${retryable ? 'yes' : 'no'} | ${http} |`,
  );
  const rows = reasons.map(({ code, reason, meaning }) => `| \`${code}\` | \`${reason}\` | ${meaning} |`);
  const misuses = Object.entries(misuse).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return `# Errors

<!-- Generated from src/errors.ts. Do not edit: \`npx vitest run test/docs.test.ts -u\` writes it anew. -->

A call never throws and never rejects. It resolves to \`{ success: true, output, metadata }\` or \`{ success: false, error, metadata }\`, and the error is data:

| field | meaning |
|---|---|
| \`code\` | one of the codes below; never renamed |
| \`reason\` | a stable reason below the code: the library's (below), or that of a rule, policy, check, hook or \`fail()\` |
| \`message\` | for the model or a person: what was wrong and what to do. Wording may change; match on \`code\` and \`reason\` |
| \`ruleId\`, \`source\` | the rule or policy that decided, and its layer: \`registry\`, \`scope:<source>\`, \`profile:<id>\`, \`session\`, \`tool\`, \`hook\`, \`default\` |
| \`retryable\` | whether the same call may succeed if it is sent again later |
| \`details\` | more, as JSON; depends on the reason |
| \`cause\` | what the host's own code threw, with its stack. Not enumerable, so JSON and \`console.log\` leave it out. **Not redacted: do not log it**; the registry's \`logger\` gets a redacted copy as \`err\` |

## Codes

\`status\` is \`metadata.status\`: \`rejected\` never ran; \`failed\` and \`cancelled\` may have. The last column is what a plain HTTP surface would answer with; MCP shows every one
as a tool result with \`isError\`. The table is exported as \`errorCodes\`.

| code | meaning | status | retryable | HTTP |
|---|---|---|---|---|
${codes.join('\n')}

## Reasons

| code | reason | meaning |
|---|---|---|
${rows.join('\n')}

## Misuse

A host's programming mistake throws a \`MisuseError\`, at once and where it is made; the message names the field, what was expected and what came.
Recognise one by \`isMisuseError(error)\`: two installed copies of a package defeat \`instanceof\`.

\`\`\`ts
import assert from 'node:assert/strict';
import { HostToolRegistry, isMisuseError } from 'host-tools';

try {
  new HostToolRegistry({ defaultTimeoutMs: 0 });
} catch (error) {
  assert.ok(isMisuseError(error));
  assert.equal(error.code, 'invalid_option');
  assert.equal(error.message, 'HostToolRegistry: expected \`defaultTimeoutMs\` to be a number of milliseconds above 0 and at most 2147483647, got \`0\` (number).');
}
\`\`\`

| code | meaning |
|---|---|
${misuses.join('\n')}
`;
}
