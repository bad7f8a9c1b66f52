/** A server of the older official SDK: the prompts and resources that scenarios of the suite name. */
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const server = new McpServer({ name: 'offering', version: '1.0.0' });
const said = (...parts) => ({
  messages: parts.map((content) => ({ role: 'user', content })),
});
const text = (value) => ({ type: 'text', text: value });

server.registerPrompt('test_simple_prompt', { description: 'Says a text.' }, () =>
  said(text('This is a simple prompt for testing.')),
);
server.registerPrompt(
  'test_prompt_with_arguments',
  { description: 'Repeats two texts.', argsSchema: { arg1: z.string(), arg2: z.string() } },
  ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
);
server.registerPrompt(
  'test_prompt_with_embedded_resource',
  { description: 'Embeds a resource.', argsSchema: { resourceUri: z.string() } },
  ({ resourceUri: uri }) => {
    const resource = {
      uri,
      mimeType: 'text/plain',
      text: 'Embedded resource content for testing.',
    };
    return said(
      { type: 'resource', resource },
      text('Please process the embedded resource above.'),
    );
  },
);
server.registerPrompt('test_prompt_with_image', { description: 'Has an image.' }, () =>
  said(
    { type: 'image', data: png, mimeType: 'image/png' },
    text('Please analyze the image above.'),
  ),
);

const contents = (uri, mimeType, more) => ({ contents: [{ uri: String(uri), mimeType, ...more }] });
server.registerResource('text', 'test://static-text', { mimeType: 'text/plain' }, (uri) =>
  contents(uri, 'text/plain', { text: 'This is the content of the static text resource.' }),
);
server.registerResource('image', 'test://static-binary', { mimeType: 'image/png' }, (uri) =>
  contents(uri, 'image/png', { blob: png }),
);
server.registerResource(
  'template',
  new ResourceTemplate('test://template/{id}/data', { list: undefined }),
  { mimeType: 'application/json' },
  (uri, { id }) =>
    contents(uri, 'application/json', {
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }),
);

await server.connect(new StdioServerTransport());
