/**
 * Refuses a release while package.json has placeholders. `npm publish` runs it first. `npm pack`
 * does not, so that the package can be tried before anything is filled in.
 *
 *   npm run release:check
 */
import { readFileSync } from 'node:fs';
import { releaseFaults } from './faults.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
const faults = releaseFaults(manifest);
if (faults.length > 0) {
  console.error(
    'Not ready for a release. Fill in package.json: npm shows these addresses, and finds the ' +
      `README's links and pictures by \`repository\`.\n${faults.map((line) => `- ${line}`).join('\n')}`,
  );
  process.exitCode = 1;
} else console.log('package.json is ready for a release.');
