/** Tools, profiles and rules from files and modules. */

export { loadHostTools, loadProfiles } from './config/load-host-tools.ts';
export { loadHostToolsModule } from './config/load-module.ts';
export type { FileReport, FileSection, LoadFailure, LoadReport } from './config/report.ts';
export type { Watch, WatchOptions } from './config/watch-host-tools.ts';
export { watchHostTools } from './config/watch-host-tools.ts';
