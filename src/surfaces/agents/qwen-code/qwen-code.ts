/**
 * Qwen Code, by the page on hooks and the code of `@qwen-code/qwen-code` 0.24.4. Its events have
 * the form of Claude Code's. It runs a call whose hook ends with another exit code than 0 and 2.
 */
import { join } from 'node:path';
import type { JsonObject } from '../../../values/json/index.ts';
import type { Agent, AgentEvent, UserHome } from '../agent.ts';
import { mcpNames, type ToolRow } from '../agent-tools.ts';
import { claudeHooks, readClaudeEvent, writeClaudeAnswer } from '../claude-code/claude-code.ts';
import { memberOf, textOf } from '../event.ts';
import { failureOf } from '../gemini-cli/gemini-cli.ts';
import {
  otherAgent,
  plainTools,
  readerOf,
  readers,
  searcher,
  shellTool,
  webTool,
  writer,
} from '../tool-rows.ts';

/**
 * The tools that Qwen Code 0.24.4 offers to its model, or keeps until it looks for them. Left out
 * are those that run code or act elsewhere without a command line that could be read, such as
 * `exec`, `monitor`, `cron_create` and `workflow`.
 */
const qwenCodeTools: readonly ToolRow[] = [
  shellTool('run_shell_command', { folder: 'directory' }),
  ...readerOf('file_path', 'read_file'),
  writer('write_file', 'file_path', ['content']),
  writer('edit', 'file_path', ['old_string', 'new_string']),
  writer('notebook_edit', 'notebook_path', ['new_source']),
  searcher('list_directory', 'path'),
  searcher('glob', 'path'),
  searcher('grep_search', 'path', 'glob'),
  webTool('web_fetch', 'url'),
  webTool('web_search', 'query'),
  ...otherAgent('agent', 'send_message', 'list_agents', 'task_stop'),
  ...readers({
    skill: 'Reads a skill.',
    tool_search: 'Looks for tools.',
    read_mcp_resource: 'Reads a resource of an MCP server.',
  }),
  ...plainTools({
    todo_write: 'Keeps a list of tasks.',
    task_create: 'Adds to the list of tasks.',
    task_update: 'Changes the list of tasks.',
    task_list: 'Reads the list of tasks.',
    ask_user_question: 'Asks the user.',
    enter_plan_mode: 'Begins to plan.',
    exit_plan_mode: 'Shows the plan to the user.',
    get_goal: 'Reads its goal.',
    propose_goal: 'Asks the user for a goal.',
    update_goal: 'Says how far its goal is reached.',
    cron_list: 'Lists scheduled tasks.',
    report_findings: 'Shows the findings of a review.',
    structured_output: 'Ends with an answer.',
    save_memory: 'Remembers a fact.',
  }),
];

const folderOf = ({ env, home }: UserHome): string => env.QWEN_HOME || join(home, '.qwen');

export const qwenCode: Agent = {
  name: 'qwen-code',
  title: 'Qwen Code',
  projectVariable: 'QWEN_PROJECT_DIR',
  canAsk: true,
  read: readQwenEvent,
  write: writeClaudeAnswer,
  tools: qwenCodeTools,
  mcpNames,
  setup: {
    program: 'qwen',
    shell: 'run_shell_command',
    file: (user) => join(folderOf(user), 'settings.json'),
    // It runs the hook before a tool after its own question, so an `allow` would come too late.
    hooks(command) {
      const all = claudeHooks(command);
      return { ...all, PermissionRequest: all.PostToolUse };
    },
    state: (user) => ({
      folder: folderOf(user),
      files: [],
      guarded: ['settings.json', 'trustedFolders.json', 'hooks', 'extensions', 'commands'].concat([
        'agents',
        'skills',
        'workflows',
        'rules',
        'QWEN.md',
        '.env',
      ]),
    }),
    trust:
      'Qwen Code runs the hook in every session that starts from now on, and `/hooks` lists it. ' +
      '`qwen --bare` and `--safe-mode` run no hook, and neither does it with `disableAllHooks` ' +
      "in its settings or the project's.",
    probe: {
      kind: 'prompt',
      args: ['-p', 'host-tools hook check', '--auth-type', 'openai'],
      env: (url) => ({
        OPENAI_API_KEY: 'none',
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_MODEL: 'none',
      }),
    },
  },
};

/** @throws HookFault */
function readQwenEvent(name: string, event: JsonObject): AgentEvent {
  if (name === 'UserPromptSubmit')
    // `prompt` also has results of tools. Only this is what the user has written.
    return memberOf(event, 'submitted_prompt') === undefined
      ? { kind: 'other' }
      : { kind: 'said', text: textOf(event, 'submitted_prompt') };
  const read = readClaudeEvent(name, event);
  // It asks in each mode, and denies the call itself where there is nobody to ask.
  if (read.kind === 'before') return { ...read, unasked: undefined };
  if (read.kind !== 'after' || read.error !== undefined) return read;
  return { ...read, error: failureOf(read.about.tool, read.output) };
}
