/** The table of commands. */
import { acp } from './acp/acp.ts';
import { auditReport } from './audit-report.ts';
import { auditVerify } from './audit-verify.ts';
import { call } from './call.ts';
import type { Command } from './command.ts';
import { explain } from './explain.ts';
import { gatewayImport } from './gateway/gateway-import.ts';
import { gatewayLogin } from './gateway/gateway-login.ts';
import { guard } from './guard/guard.ts';
import { hookCheck } from './guard/hook-check.ts';
import { hookInstall } from './guard/hook-install.ts';
import { hook } from './hook.ts';
import { init } from './init/init.ts';
import { inspect } from './inspect.ts';
import { list } from './list.ts';
import { mcpPin } from './mcp-pin.ts';
import { policyBacktest } from './policy-backtest.ts';
import { policyTest } from './policy-test.ts';
import { profilesDiff } from './profiles-diff.ts';
import { relay } from './relay.ts';
import { replay } from './replay.ts';
import { search } from './search.ts';
import { serve } from './serve.ts';
import { storeCopy } from './store/store-copy.ts';
import { storeMigrate, storeStatus } from './store/store-tables.ts';
import { toolsDiff } from './tools-diff.ts';
import { validate } from './validate/validation.ts';
import { worker } from './worker.ts';

/** In the order of help. */
export const commands: readonly Command[] = [
  init,
  list,
  search,
  call,
  explain,
  validate,
  toolsDiff,
  profilesDiff,
  policyTest,
  policyBacktest,
  replay,
  serve,
  gatewayImport,
  gatewayLogin,
  inspect,
  hookInstall,
  hookCheck,
  hook,
  guard,
  acp,
  relay,
  worker,
  storeMigrate,
  storeStatus,
  storeCopy,
  mcpPin,
  auditVerify,
  auditReport,
];
