/** Tools, profiles, rules and quotas from files and modules. */

export { loadHostTools, loadProfiles } from './load-host-tools.ts';
export { loadHostToolsModule } from './load-module.ts';
export type { FileReport, FileSection, LoadFailure, LoadReport } from './report.ts';
export type { Watch, WatchOptions } from './watch-host-tools.ts';
export { watchHostTools } from './watch-host-tools.ts';
