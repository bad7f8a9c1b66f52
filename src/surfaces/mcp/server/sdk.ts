/** The optional package that implements the protocol, imported on first use. */
import { packageFault } from '../../../values/packages/missing-package.ts';

/** What `@modelcontextprotocol/server` exports. */
export type Sdk = typeof import('@modelcontextprotocol/server');
/** What its stdio entry exports. */
export type StdioSdk = typeof import('@modelcontextprotocol/server/stdio');

/** @throws MisuseError `missing_dependency`. @param load imports the package */
export async function loadSdk<T = Sdk>(
  load: () => Promise<T> = () => import('@modelcontextprotocol/server') as Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw packageFault('@modelcontextprotocol/server', 'serves tools over MCP', error);
  }
}

/** The stdio entry of the same package. @throws MisuseError `missing_dependency`. */
export function loadStdioSdk(): Promise<StdioSdk> {
  return loadSdk(() => import('@modelcontextprotocol/server/stdio'));
}
