/**
 * The text of docs/errors.md: the codes come from `errorCodes`, the reasons from the list below.
 */
import { type ErrorCode, errorCodes, type MisuseCode } from '../../src/index.ts';

/**
 * The reasons that the library gives. All others come from a host's rules, policies, checks, hooks
 * and `fail()`.
 */
export const reasons: readonly {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly meaning: string;
}[] = [
  {
    code: 'tool_not_available',
    reason: 'fact_unmet',
    meaning:
      'A fact that the tool requires does not hold. `details.fact` names it, and ' +
      '`details.unlockedBy` names the tool that can establish it.',
  },
  {
    code: 'tool_not_available',
    reason: 'disabled',
    meaning: 'The tool is disabled by an override or by its registration.',
  },
  {
    code: 'tool_not_available',
    reason: 'not_in_profile',
    meaning: "The tool is not in the session's profile.",
  },
  {
    code: 'tool_not_available',
    reason: 'model_only',
    meaning: 'An app called a tool that is only for models.',
  },
  {
    code: 'tool_not_available',
    reason: 'other_app',
    meaning:
      'Only in events: an app called a tool of another source. The app reads `tool_not_found`.',
  },
  {
    code: 'tool_not_available',
    reason: 'knobs_missing',
    meaning: "The tool's knobs do not accept `{}`, and no profile sets them.",
  },
  {
    code: 'tool_not_available',
    reason: 'not_listed',
    meaning: 'In a workflow: the tool was added after the model was last shown its tools.',
  },
  {
    code: 'tool_not_available',
    reason: 'removed',
    meaning:
      'The tool was removed since the session began, or removed or replaced while the call ' +
      'waited. For an imported tool: its server no longer has it.',
  },
  {
    code: 'tool_not_available',
    reason: 'definition_changed',
    meaning:
      'The definition of an imported tool has changed, or was never accepted. Accept it to ' +
      'use the tool. For a tool of a fleet: the worker that took the call has another definition.',
  },
  {
    code: 'tool_not_available',
    reason: 'not_declared',
    meaning: 'A handler called a tool that its definition does not name in `uses`.',
  },
  {
    code: 'invalid_input',
    reason: 'invalid_option',
    meaning: 'An option of the call is unknown, or its value is wrong.',
  },
  {
    code: 'invalid_input',
    reason: 'not_json',
    meaning: 'The arguments have a value that JSON cannot express: a function, a cycle, NaN.',
  },
  {
    code: 'invalid_input',
    reason: 'not_an_object',
    meaning: 'The arguments are not a JSON object.',
  },
  {
    code: 'invalid_input',
    reason: 'too_large',
    meaning:
      'The arguments have more than `maxInputBytes`, or more than [50 000 ' +
      'values](schemas.md#the-input-before-and-after).',
  },
  {
    code: 'invalid_input',
    reason: 'too_deep',
    meaning: 'The arguments are nested deeper than 64 levels.',
  },
  {
    code: 'invalid_input',
    reason: 'unsafe_key',
    meaning: 'A member is named `__proto__`, and the schema is not a raw JSON Schema.',
  },
  {
    code: 'invalid_input',
    reason: 'idempotency_conflict',
    meaning: 'The [idempotency key](idempotency.md) was used with other arguments.',
  },
  {
    code: 'invalid_input',
    reason: 'invalid_edit',
    meaning:
      'The tool does not take the input that an answer of the ' +
      '[inbox](approvals-later.md#read-and-answer) brings. Nothing was answered.',
  },
  {
    code: 'invalid_input',
    reason: 'invalid_call_id',
    meaning: 'The call id is not a string of 1 to 1024 characters. No event is sent.',
  },
  {
    code: 'policy_denied',
    reason: 'denied_by_rule',
    meaning: 'A rule without a `reason` of its own denied the call.',
  },
  {
    code: 'policy_denied',
    reason: 'cedar_forbidden',
    meaning:
      'A `forbid` of [Cedar](cedar-and-opa.md#what-cedar-decides) matched; the message names it.',
  },
  {
    code: 'policy_denied',
    reason: 'cedar_not_permitted',
    meaning: 'No `permit` of [Cedar](cedar-and-opa.md#what-cedar-decides) matched.',
  },
  {
    code: 'policy_denied',
    reason: 'opa_denied',
    meaning:
      'A policy in [Rego](cedar-and-opa.md#opa) denied the call without a reason of its own.',
  },
  {
    code: 'policy_denied',
    reason: 'opa_undefined',
    meaning: 'A policy in [Rego](cedar-and-opa.md#opa) has no result for the call.',
  },
  {
    code: 'policy_denied',
    reason: 'rejected_always',
    meaning: 'A person has rejected such calls of the session for which this one acts.',
  },
  {
    code: 'policy_denied',
    reason: 'approval_not_asked',
    meaning:
      'A conversation says that a person approved the call, but the session never asked for ' +
      'that approval.',
  },
  {
    code: 'policy_denied',
    reason: 'denied_by_default',
    meaning: 'Nothing allowed the call, and the default is `deny`.',
  },
  {
    code: 'policy_denied',
    reason: 'scope_missing',
    meaning:
      'The caller lacks a [scope](mcp-server.md#authorization) that the tool needs. Over MCP ' +
      'with `authorization`, the answer is 403 `insufficient_scope`.',
  },
  {
    code: 'invalid_input',
    reason: 'unknown_call',
    meaning:
      '`session.revert` found no call of this id that [can be taken back](undo.md). Nothing ran.',
  },
  {
    code: 'invalid_input',
    reason: 'still_running',
    meaning:
      'The call that is to be [taken back](undo.md) runs, or waits for a person. Nothing was taken ' +
      'back.',
  },
  {
    code: 'invalid_input',
    reason: 'already_reverted',
    meaning: 'The call was [taken back](undo.md) before.',
  },
  {
    code: 'invalid_input',
    reason: 'revert_ran',
    meaning:
      'The `revert` of [the call](undo.md) has begun before, and failed or was not seen to end.',
  },
  {
    code: 'invalid_input',
    reason: 'revert_changed',
    meaning:
      'Whoever allowed that [a call is taken back](undo.md) changed the input. Nothing was taken back.',
  },
  {
    code: 'policy_error',
    reason: 'credentials_unavailable',
    meaning:
      'What gives the tool its [credentials](credentials.md) threw, took too long, or answered ' +
      'something else. Nothing ran.',
  },
  {
    code: 'approval_pending',
    reason: 'authorization_required',
    meaning:
      'The principal has to [log in](credentials.md) at `details.url`. The call waits for that, ' +
      'and goes on by itself.',
  },
  {
    code: 'tool_not_available',
    reason: 'authorization_required',
    meaning:
      'The principal has to [log in](credentials.md) at `details.url` first, and the call could ' +
      'not wait for that. Nothing ran.',
  },
  {
    code: 'policy_error',
    reason: 'undo_unavailable',
    meaning: 'The store of calls that [can be taken back](undo.md) failed. Nothing ran.',
  },
  {
    code: 'policy_denied',
    reason: 'quota_exceeded',
    meaning:
      'The call would exceed a quota without a `reason` of its own. `details` has `quota`, ' +
      '`max`, `used` and `retryAfterMs`, which is null if waiting does not help.',
  },
  {
    code: 'policy_denied',
    reason: 'quota_unreadable',
    meaning:
      'A quota cannot determine what the call spends: a value at its path is not a number from ' +
      '0, or names nothing. `details.quota` has its id.',
  },
  {
    code: 'policy_denied',
    reason: 'quota_unavailable',
    meaning: 'The store of quotas failed, answered too late, or gave no valid answer.',
  },
  {
    code: 'policy_error',
    reason: 'audit_unavailable',
    meaning: 'A required audit log could not record the call before it ran.',
  },
  {
    code: 'policy_error',
    reason: 'idempotency_unavailable',
    meaning:
      'The store of [outcomes](idempotency.md) failed, answered too late, or gave no valid ' +
      'answer. Nothing ran.',
  },
  {
    code: 'policy_error',
    reason: 'policy_threw',
    meaning:
      'A policy, a `check` or `requiresApproval` threw or rejected, or `requiresApproval` ' +
      'took too long.',
  },
  {
    code: 'policy_error',
    reason: 'policy_timeout',
    meaning: 'A policy or a `check` took longer than `policyTimeoutMs`.',
  },
  {
    code: 'policy_error',
    reason: 'policy_nonsense',
    meaning:
      'A policy or a `check` returned something that is not a decision, or a deny without a ' +
      'well-formed reason.',
  },
  {
    code: 'policy_error',
    reason: 'cedar_error',
    meaning:
      'A policy in Cedar failed on the call, or Cedar [cannot express](cedar-and-opa.md' +
      '#how-values-become-cedar-values) a value of it. The logger gets the error.',
  },
  {
    code: 'policy_error',
    reason: 'opa_error',
    meaning:
      'OPA gave no [decision](cedar-and-opa.md#opa): it failed, could not be reached, or ' +
      'answered anything else. The logger gets the error.',
  },
  {
    code: 'policy_error',
    reason: 'command_unreadable',
    meaning:
      'A rule tests what a command line does, and ' +
      '[the line](coding-agents.md#what-a-command-line-does) is too long to be read as a whole.',
  },
  {
    code: 'policy_error',
    reason: 'hook_failed',
    meaning: 'A before hook threw, took too long or returned something invalid.',
  },
  {
    code: 'policy_error',
    reason: 'resource_key_failed',
    meaning: '`resourceKey` threw or did not return a string.',
  },
  {
    code: 'policy_error',
    reason: 'rules_over_budget',
    meaning:
      'Checking the arguments against the rules would take more steps than allowed. Send less.',
  },
  {
    code: 'policy_error',
    reason: 'rules_unstable',
    meaning: 'The rules changed eight times while the call was judged. Retryable.',
  },
  {
    code: 'approval_pending',
    reason: 'approval_required',
    meaning: 'The call is suspended until a person answers.',
  },
  { code: 'approval_denied', reason: 'rejected', meaning: 'A person rejected the call.' },
  {
    code: 'approval_denied',
    reason: 'rejected_always',
    meaning: 'An earlier `reject_always` answered.',
  },
  {
    code: 'approval_denied',
    reason: 'no_approver',
    meaning: 'Neither the session nor the surface has an `approver`.',
  },
  {
    code: 'approval_denied',
    reason: 'unasked',
    meaning:
      'A rule asks, but the agent had begun already without asking. The record says what the ' +
      'rules say; it stopped nothing.',
  },
  {
    code: 'approval_denied',
    reason: 'secret_in_prompt',
    meaning:
      'The title or the message of the question contains a secret of the call. No one was asked.',
  },
  {
    code: 'approval_denied',
    reason: 'input_not_shown',
    meaning:
      'The call has too many secrets, or they could not be found within their bounds. No one ' +
      'was asked.',
  },
  {
    code: 'approval_denied',
    reason: 'approver_failed',
    meaning: 'The approver threw or rejected.',
  },
  {
    code: 'approval_denied',
    reason: 'invalid_answer',
    meaning:
      'The approver answered in a wrong form, or with an input that is not JSON. No person ' +
      'refused the call.',
  },
  {
    code: 'approval_denied',
    reason: 'approvers_unreachable',
    meaning:
      'Only [certain people](approvers.md) may approve the call, and it cannot wait for them here.',
  },
  {
    code: 'approval_denied',
    reason: 'not_an_approver',
    meaning:
      'Somebody else has to answer, or the host does not say [who does](approvers.md). The question stays.',
  },
  {
    code: 'approval_denied',
    reason: 'standing_answer',
    meaning:
      'The answer was `allow_always`, where [certain people](approvers.md) have to allow each call. The question stays.',
  },
  {
    code: 'approval_pending',
    reason: 'approvers_missing',
    meaning:
      'The answer counts, and `details.missing` is how many [more people](approvers.md) have to allow the call, at least.',
  },
  {
    code: 'approval_denied',
    reason: 'approval_in_child',
    meaning: 'The call is a child call, which cannot be suspended.',
  },
  {
    code: 'approval_denied',
    reason: 'store_unavailable',
    meaning: 'The approval store failed or took longer than `policyTimeoutMs`.',
  },
  {
    code: 'approval_denied',
    reason: 'token_invalid',
    meaning: 'The token is not genuine, or the stored record is not what it signed.',
  },
  { code: 'approval_denied', reason: 'token_used', meaning: 'The call was answered before.' },
  {
    code: 'approval_denied',
    reason: 'unknown_approval',
    meaning:
      'No call waits for approval under this id. In a chat of the AI SDK: it is not known any ' +
      'more how the call ended, and it may have run.',
  },
  {
    code: 'approval_denied',
    reason: 'four_eyes',
    meaning:
      'Under `fourEyes`, the answer was of the person for whom the session acts, or did not say ' +
      'whose it is.',
  },
  {
    code: 'approval_denied',
    reason: 'token_foreign',
    meaning: 'The token belongs to another session id or principal.',
  },
  {
    code: 'approval_denied',
    reason: 'definition_changed',
    meaning: 'The tool is not the one that the person was asked about.',
  },
  {
    code: 'approval_timeout',
    reason: 'timeout',
    meaning: 'The question was not answered within `approvalTimeoutMs`.',
  },
  {
    code: 'approval_timeout',
    reason: 'expired',
    meaning: 'The token is older than `approvals.ttlMs`.',
  },
  { code: 'timeout', reason: 'timeout', meaning: 'The handler took longer than its timeout.' },
  {
    code: 'timeout',
    reason: 'idempotency_in_progress',
    meaning:
      'An earlier call with the same [idempotency key](idempotency.md) still ran when the call ' +
      'had waited for as long as it might have run. Nothing ran for this one.',
  },
  {
    code: 'timeout',
    reason: 'idle_timeout',
    meaning: 'The handler reported no progress for `idleTimeoutMs`.',
  },
  {
    code: 'cancelled',
    reason: 'parent_ended',
    meaning:
      'A handler called a tool after its own call had ended; or a ' +
      '[program](code.md#what-a-program-can-do) ended before the answer to a call of it, which ' +
      'did not run.',
  },
  {
    code: 'invalid_output',
    reason: 'not_json',
    meaning: 'The output has a value that JSON cannot express. `details.path` says where.',
  },
  {
    code: 'invalid_output',
    reason: 'output_schema',
    meaning: 'The output does not match `outputSchema`.',
  },
  {
    code: 'invalid_output',
    reason: 'outcome_not_kept',
    meaning:
      'An earlier call with the same [idempotency key](idempotency.md) has run, and its outcome ' +
      'was too long to be kept.',
  },
  {
    code: 'invalid_output',
    reason: 'output_too_large',
    meaning:
      'The output is too deep or too large to copy. Or it is over its budget and has an ' +
      '`outputSchema`, so it cannot be cut.',
  },
  {
    code: 'rate_limited',
    reason: 'calls_per_minute',
    meaning: 'The session is over `callsPerMinute`. `details.retryAfterMs` says how long to wait.',
  },
  {
    code: 'rate_limited',
    reason: 'queue_full',
    meaning: 'More calls wait than `maxQueuedCalls` allows.',
  },
  {
    code: 'rate_limited',
    reason: 'queue_timeout',
    meaning: 'The call waited longer than `queueTimeoutMs` for a slot or a lock.',
  },
  {
    code: 'rate_limited',
    reason: 'deadlock',
    meaning: 'The call would wait for something that only its own callers hold. Not retryable.',
  },
  {
    code: 'rate_limited',
    reason: 'too_many_approvals',
    meaning:
      'More approvals are open than `maxPendingApprovals` allows, or they have more bytes ' +
      'together than `approvals.maxBytesPerPrincipal`.',
  },
  {
    code: 'loop_detected',
    reason: 'identical_calls',
    meaning: 'There were more identical calls in a row than `loopGuard` allows.',
  },
  { code: 'tool_cycle', reason: 'cycle', meaning: 'The tool is in its own chain of callers.' },
  { code: 'tool_cycle', reason: 'too_deep', meaning: 'The chain has more than 8 child calls.' },
  {
    code: 'handler_error',
    reason: 'unknown_handle',
    meaning:
      'The session has no [offloaded output](offload.md) with this handle: it never existed, has ' +
      'expired, or was removed to make room.',
  },
  {
    code: 'handler_error',
    reason: 'invalid_pattern',
    meaning:
      'The pattern for an [offloaded output](offload.md) is malformed, too complex, or cannot ' +
      'run in linear time.',
  },
  {
    code: 'handler_error',
    reason: 'offload_unavailable',
    meaning: 'The store of [offloaded outputs](offload.md) failed, or answered too late.',
  },
  {
    code: 'handler_error',
    reason: 'mcp_tool_error',
    meaning: 'The MCP server of an imported tool answered that the tool failed.',
  },
  {
    code: 'handler_error',
    reason: 'mcp_error',
    meaning: 'The MCP server refused the call with a protocol error. `details.code` is its code.',
  },
  {
    code: 'handler_error',
    reason: 'mcp_invalid_result',
    meaning: "The MCP server's answer is not a valid result.",
  },
  {
    code: 'handler_error',
    reason: 'http_error',
    meaning:
      'The API of an [imported operation](openapi.md) answered with an error, or with a redirect ' +
      'that is not followed. `details.status` is its status.',
  },
  {
    code: 'handler_error',
    reason: 'http_argument',
    meaning:
      'An argument of an [imported operation](openapi.md) has no form in its place. Nothing was sent.',
  },
  {
    code: 'invalid_output',
    reason: 'http_response',
    meaning:
      'The API of an [imported operation](openapi.md) answered with what cannot be read. The ' +
      'operation may have been carried out.',
  },
  {
    code: 'executor_lost',
    reason: 'holder_lost',
    meaning:
      'The process that ran an earlier call with the same [idempotency key](idempotency.md) went ' +
      'away. Nothing ran for this one.',
  },
  {
    code: 'executor_lost',
    reason: 'answerer_lost',
    meaning:
      'The process that [answered the approval](approvals-later.md#tell-the-agent-what-was-answered) ' +
      'went away before the call ended. It may have run.',
  },
  {
    code: 'executor_lost',
    reason: 'node_lost',
    meaning: 'The relay node that ran the call went away, and the tool must not run twice.',
  },
  {
    code: 'executor_lost',
    reason: 'result_not_kept',
    meaning:
      "The call has run, but the relay's store did not keep its result, for example because " +
      'it had no room.',
  },
  {
    code: 'executor_lost',
    reason: 'store_unavailable',
    meaning: 'The relay cannot reach its store.',
  },
  {
    code: 'handler_error',
    reason: 'result_too_large',
    meaning: 'The MCP server answered more than 4 MB, or the API of an operation more than 8 MB.',
  },
  {
    code: 'executor_lost',
    reason: 'sandbox_exited',
    meaning: 'The sandbox of the handler exited, or something killed it.',
  },
  {
    code: 'executor_lost',
    reason: 'sandbox_crashed',
    meaning: 'An error or a rejection in the sandbox was not handled.',
  },
  {
    code: 'executor_lost',
    reason: 'sandbox_out_of_memory',
    meaning: 'The sandbox used more memory than it may.',
  },
  {
    code: 'executor_lost',
    reason: 'sandbox_protocol',
    meaning: 'The sandbox sent an unknown message, or too much.',
  },
  {
    code: 'invalid_input',
    reason: 'code_syntax',
    meaning:
      'A [program](code.md) cannot be read, and nothing ran; or it has called `import()`, and its ' +
      'calls may have run. `details.line` names the line.',
  },
  {
    code: 'handler_error',
    reason: 'code_error',
    meaning: 'A [program](code.md) threw. `details.line` names the line.',
  },
  {
    code: 'handler_error',
    reason: 'code_limit',
    meaning: 'A [program](code.md) needed too much memory, or made too many or too deep calls.',
  },
  {
    code: 'handler_error',
    reason: 'code_diverged',
    meaning:
      'A [program](code.md#the-journal) that was run again asked for something else than before, ' +
      'or is another one than the id stands for. Nothing new ran.',
  },
  {
    code: 'invalid_output',
    reason: 'code_result',
    meaning: 'A [program](code.md) ran, and what it returned is no JSON or too long.',
  },
  {
    code: 'timeout',
    reason: 'code_timeout',
    meaning: 'A [program](code.md) took longer than its `timeoutMs`. Its calls may have run.',
  },
  {
    code: 'timeout',
    reason: 'code_cpu',
    meaning: 'A [program](code.md) computed longer than its `cpuMs`. Its calls may have run.',
  },
  {
    code: 'rate_limited',
    reason: 'code_busy',
    meaning: 'Too many [programs](code.md) are running. Nothing ran.',
  },
  {
    code: 'rate_limited',
    reason: 'code_running',
    meaning: 'The [program](code.md#the-journal) of this call is running already.',
  },
  {
    code: 'rate_limited',
    reason: 'max_calls',
    meaning: 'A [program](code.md) has made as many calls as it may. Only the program sees this.',
  },
  {
    code: 'executor_lost',
    reason: 'code_lost',
    meaning:
      'What ran a [program](code.md#the-journal), or a call of it, went away. The call was not run ' +
      'again.',
  },
  {
    code: 'executor_lost',
    reason: 'sandbox_ended',
    meaning: 'The sandbox was ended, for example because its executor was disposed of.',
  },
  {
    code: 'executor_lost',
    reason: 'not_started',
    meaning: 'No worker of the fleet took the call in time. It did not run, and never will.',
  },
  {
    code: 'executor_lost',
    reason: 'worker_lost',
    meaning: 'The worker of the fleet that ran the call died, or did nothing for too long.',
  },
  {
    code: 'executor_lost',
    reason: 'worker_closed',
    meaning: 'The worker of the fleet was closed before the call had ended.',
  },
  {
    code: 'executor_lost',
    reason: 'fleet_unreachable',
    meaning: 'The Redis of the fleet could not be reached, or did not accept the call.',
  },
  {
    code: 'executor_lost',
    reason: 'record_lost',
    meaning: 'The Redis of the fleet has lost what it knew of the call.',
  },
  {
    code: 'executor_lost',
    reason: 'fleet_protocol',
    meaning: 'The worker of the fleet sent what the protocol does not have, or too much.',
  },
  {
    code: 'executor_lost',
    reason: 'executor_disposed',
    meaning: 'The executor of the fleet was disposed while the call ran.',
  },
  {
    code: 'sandbox_unavailable',
    reason: 'sandbox_unsupported',
    meaning: 'The platform lacks what the sandbox needs.',
  },
  {
    code: 'sandbox_unavailable',
    reason: 'sandbox_not_started',
    meaning: 'The sandbox could not be started. `error.cause` may say why.',
  },
  {
    code: 'tool_not_available',
    reason: 'module_failed',
    meaning: "The module of a sandbox's handler could not be imported.",
  },
  {
    code: 'tool_not_available',
    reason: 'handler_missing',
    meaning:
      "The module of a sandbox's handler has no such function, or the worker of a fleet has no " +
      'such tool.',
  },
];

const misuse: Readonly<Record<MisuseCode, string>> = {
  invalid_definition: 'A field of a definition is missing or wrong.',
  invalid_schema: 'A schema cannot be used, or cannot be converted to JSON Schema.',
  invalid_option: 'An option is unknown or out of its range.',
  missing_part:
    'An option, a key, a schema, a test of a rule or a method belongs to a part that the registry does not have; `part` names it.',
  duplicate_name: 'A tool or a scope of this name already exists.',
  name_conflict: 'A name looks like one that exists, or belongs to another owner.',
  unknown_tool: 'A profile or an override names a tool that does not exist.',
  unknown_profile: 'No profile has this id.',
  unknown_knob:
    'A profile sets a knob that the tool does not have, or a value that the tool does not accept.',
  invalid_rule: 'A rule is malformed.',
  invalid_quota: 'A quota is malformed, or its id is taken.',
  invalid_operation:
    'A store was asked for what no store can do, such as a name that is empty or a number out of ' +
    'its range.',
  foreign_definition: 'The definition was not made by this installed copy of the library.',
  closed: 'The registry, session or scope is closed.',
  missing_dependency:
    'A package cannot be loaded. The message has the command that installs it, or says why an ' +
    'installed package failed to load.',
  invalid_file:
    'A file of tools, profiles, rules or quotas, a trace or a tape cannot be read, or has the ' +
    'wrong content.',
  in_use: 'Another process writes the audit log.',
};

/** The whole page. */
export function errorsPage(): string {
  const codes = Object.entries(errorCodes).map(
    ([code, { meaning, retryable, status, http }]) =>
      `| \`${code}\` | ${meaning} | \`${status}\` | ${retryable ? 'yes' : 'no'} | ${http} |`,
  );
  const rows = reasons.map(
    ({ code, reason, meaning }) => `| \`${code}\` | \`${reason}\` | ${meaning} |`,
  );
  const misuses = Object.entries(misuse).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return `# Errors

<!-- Generated from src/values/errors/index.ts. Do not edit. Update: \`npx vitest run test/docs.test.ts -u\` -->

This page lists every error code and reason. A call never throws and never rejects. It resolves to
\`{ success: true, output, metadata }\` or to \`{ success: false, error, metadata }\`. Mistakes in your
own code, such as a wrong option of a registry, throw a [\`MisuseError\`](#misuse) instead.

## Handle a failed call

Match on \`error.code\` and \`error.reason\`. Both are stable. The wording of \`error.message\` may
change.

\`\`\`ts
import assert from 'node:assert/strict';
import { defineTool, HostToolRegistry } from 'host-tools';

const registry = new HostToolRegistry({
  rules: [{ effect: 'deny', tools: 'remove_*', reason: 'read_only_today' }],
});
registry.register(
  defineTool({
    name: 'remove_file',
    description: 'Removes one file.',
    parameters: { type: 'object' },
    handler: () => 'removed',
  }),
);
const session = registry.createSession({ sessionId: 's' });

const result = await session.call('remove_file', {});
assert.equal(result.success, false);
assert.equal(result.error?.code, 'policy_denied');
assert.equal(result.error?.reason, 'read_only_today');
assert.equal(result.error?.retryable, false);
\`\`\`

| field of \`error\` | meaning |
|---|---|
| \`code\` | one of the [codes](#codes). They are never renamed |
| \`reason\` | says more than the code: one of the library's [reasons](#reasons), or the reason of a rule, policy, check, hook or \`fail()\` |
| \`message\` | for the model or a person: what was wrong and what to do |
| \`ruleId\`, \`source\` | the rule or policy that decided, and its layer: \`registry\`, \`scope:<source>\`, \`profile:<id>\`, \`session\`, \`tool\`, \`hook\`, \`default\` |
| \`retryable\` | whether the same call may succeed if you send it again later |
| \`details\` | more data, as JSON. Depends on the reason |
| \`cause\` | what your own code threw, with its stack. Not enumerable, so JSON and \`console.log\` leave it out. **Not redacted: do not log it.** The registry's \`logger\` gets a redacted copy as \`err\` |

## Codes

| code | meaning | status | retryable | HTTP |
|---|---|---|---|---|
${codes.join('\n')}

- **status** is \`metadata.status\`. With \`rejected\` the handler did not run. With \`failed\` or
  \`cancelled\` it may have run. With \`pending\` the call waits for an answer.
- **HTTP** is the status that a plain HTTP surface would answer with. MCP shows every failure as a
  tool result with \`isError\`.

Your code can import this table as \`errorCodes\`.

## Reasons

These are the reasons that the library gives. All others come from your rules, policies, checks,
hooks and \`fail()\`.

| code | reason | meaning |
|---|---|---|
${rows.join('\n')}

## Misuse

A mistake in your code throws a \`MisuseError\`, at once and at the place of the mistake. The message
names the field, what was expected and what it got. Use \`isMisuseError(error)\` to recognise one:
\`instanceof\` fails if two copies of the package are installed.

\`\`\`ts
import assert from 'node:assert/strict';
import { HostToolRegistry, isMisuseError } from 'host-tools';

try {
  new HostToolRegistry({ defaultTimeoutMs: 0 });
} catch (error) {
  assert.ok(isMisuseError(error));
  assert.equal(error.code, 'invalid_option');
  assert.equal(
    error.message,
    'HostToolRegistry: expected \`defaultTimeoutMs\` to be a number of milliseconds above 0 and at most 2147483647, got \`0\` (number).',
  );
}
\`\`\`

| code | meaning |
|---|---|
${misuses.join('\n')}
`;
}
