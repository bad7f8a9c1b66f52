import type { Profile } from '../src/index.ts';
import { fetchStatusTool } from './tools/fetch-status.ts';
import { gitTool } from './tools/git.ts';
import { readFileTool } from './tools/read-file.ts';
import { searchFilesTool } from './tools/search-files.ts';
import { writeFileTool } from './tools/write-file.ts';

/** The tools of the examples. None of them knows who uses it: that is what profiles say. */
export const exampleTools = [
  gitTool,
  readFileTool,
  searchFilesTool,
  writeFileTool,
  fetchStatusTool,
] as const;

const READING = ['status', 'log', 'show', 'diff', 'branch_list'];

/**
 * Three ways to bind the same tools; `statusOrigin` is the one server that status pages come from.
 */
export function exampleProfiles(statusOrigin: string): readonly Profile[] {
  const status = { name: 'fetch_status', knobs: { allowedOrigins: [statusOrigin] } };
  return [
    {
      // Reads history and files, changes nothing: `write_file` is not there, and `git` has only
      // actions that read.
      id: 'reviewer',
      tools: [
        { name: 'git', knobs: { allowedActions: READING } },
        { name: 'read_file', maxOutputChars: 2_000 },
        'search_files',
        { ...status, timeoutMs: 2_000 },
      ],
      limits: { callsPerMinute: 120 },
    },
    {
      // Changes files on branches of its own, and a person sees each commit before it is made.
      id: 'fixer',
      tools: [
        {
          name: 'git',
          knobs: {
            allowedActions: [...READING, 'branch_create', 'checkout', 'add', 'commit'],
            managedBranchPrefix: 'fix/',
            askBefore: ['commit'],
            maxFiles: 5,
          },
        },
        'read_file',
        'search_files',
        { name: 'write_file', knobs: { maxBytes: 50_000 } },
        status,
      ],
      // A rule sees the path as it was sent: so `./package.json`, `package.json/` and, for file
      // systems that do not mind, `Package.JSON` must match too.
      rules: [
        {
          id: 'manifests-are-for-people',
          effect: 'deny',
          tools: 'write_file',
          when: { path: { matches: '(?i)(^|/)package(-lock)?\\.json(/|$)' } },
          reason: 'manifest_protected',
        },
      ],
    },
    {
      // Publishes: may push what is on a release branch, once a person has agreed. It writes no
      // files.
      id: 'release',
      tools: [
        {
          name: 'git',
          knobs: {
            allowedActions: [...READING, 'branch_create', 'push'],
            managedBranchPrefix: 'release/',
            allowPush: true,
            askBefore: ['push'],
          },
        },
        'read_file',
      ],
      limits: { maxConcurrentCalls: 1 },
    },
  ];
}
