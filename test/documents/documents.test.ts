import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { SERVE_OPTIONS } from '../../src/command/operator/serve-command.ts'
import { blocksOf, linksOf, textOf } from '../stage/document.ts'
import { filesBelow, PRODUCT_SOURCES } from '../stage/source-tree.ts'
import { ROOT } from '../stage/places.ts'
import { assertTestExists, namedTests } from './named-tests.ts'

const FILES = filesBelow('')
const DOCUMENTS = FILES.filter((path) => path.endsWith('.md'))
/** Index of the documents, by task. */
const INDEX = 'docs/README.md'
const DECISIONS = DOCUMENTS.filter((path) => path.startsWith('docs/decisions/')).toSorted()

type Manifest = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>
const manifest = JSON.parse(textOf('package.json')) as Manifest
const dependencies = dependenciesOf(manifest)

function dependenciesOf(of: Manifest): readonly (readonly [name: string, version: string])[] {
  return Object.entries({ ...of['dependencies'], ...of['devDependencies'], ...of['optionalDependencies'] })
}

suite('every document', () => {
  test('links to files that exist', () => {
    const dead = DOCUMENTS.flatMap((path) =>
      linksOf(textOf(path))
        .filter((target) => !existsSync(join(ROOT, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    )
    assert.deepEqual(dead, [])
  })

  test('links to headings that exist', () => {
    const dead = DOCUMENTS.flatMap((path) =>
      [...textOf(path).matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)]
        .filter(([, target = '', slug = '']) => {
          const file = target === '' ? path : join(dirname(path), target)
          return !slugsOf(textOf(file)).has(slug)
        })
        .map(([link]) => `${path}: ${link}`),
    )
    assert.deepEqual(dead, [])
  })

  test('names only files that exist', () => {
    const dead = DOCUMENTS.filter((path) => !path.startsWith('docs/decisions/')).flatMap((path) =>
      [...textOf(path).matchAll(/`((?:src|sim|test|bench|package|docs|ops)\/[\w./-]+)`/g)]
        .filter(([, named = '']) => !existsSync(join(ROOT, named)))
        .map(([, named]) => `${path}: ${named}`),
    )
    assert.deepEqual(dead, [])
  })

  test('for readers says that the data is informational only', () => {
    for (const path of ['README.md', 'PROTOCOL.md']) {
      assert.match(textOf(path), /informational only\. It is not advice, a forecast or an offer\./, path)
    }
  })
})

suite('README', () => {
  test('has 90 lines at most', () => {
    assert.ok(textOf('README.md').trimEnd().split('\n').length <= 90)
  })

  test('links to the index and to the first documents', () => {
    const linked = new Set(linksOf(textOf('README.md')))
    for (const path of [INDEX, 'PROTOCOL.md', 'CONTRIBUTING.md', 'docs/operating.md']) {
      assert.ok(linked.has(path), path)
    }
  })
})

suite('docs/README.md', () => {
  test('has one line about every document', () => {
    const told = [...textOf(INDEX).matchAll(/^- \[[^\]]+\]\(([^)]+)\): [A-Za-z]/gm)]
    const documents = DOCUMENTS.filter((path) => /^(?:docs\/(?:runbook\/(?=README))?)?[\w-]+\.md$/.test(path))
    assert.deepEqual(
      told.map(([, target = '']) => join('docs', target)).toSorted(),
      [...documents.filter((path) => path !== 'README.md' && path !== INDEX), 'docs/decisions'].toSorted(),
    )
  })
})

suite('docs/speed.md', () => {
  test('has only figures of bench/RESULTS.md', () => {
    const measured = new Set(figuresIn(textOf('bench/RESULTS.md')))
    const told = figuresIn(textOf('docs/speed.md'))
    assert.ok(told.length > 30, 'the figures are found')
    assert.deepEqual(
      told.filter((figure) => !measured.has(figure)),
      [],
    )
  })
})

suite('the invariants', () => {
  const text = textOf('docs/invariants.md')
  const rules = text.split(/^(?=\d+\. )/m).slice(1)
  const held = namedTests(text)

  test('are thirteen rules, each with a test', () => {
    assert.equal(rules.length, 13)
    for (const rule of rules) assert.match(rule, /Tested\s+by\s+`[^`]+\.test\.ts`:\s+"[^"]+"/)
    assert.equal(held.length, text.match(/Tested\s+by/g)?.length)
  })

  for (const named of held) test(`name a test that exists: ${named.name}`, () => assertTestExists(named))
})

suite('the decisions', () => {
  test('are numbered without a gap', () => {
    for (const [index, path] of DECISIONS.entries())
      assert.ok(path.startsWith(`docs/decisions/${String(index + 1).padStart(4, '0')}-`), path)
  })

  test('have a context, a choice, a cost, and a condition of reversal', () => {
    for (const path of DECISIONS) {
      for (const part of ['Context.', 'Choice.', 'Cost.', 'What would reverse it.']) {
        assert.ok(textOf(path).includes(`**${part}**`), `${path}: ${part}`)
      }
    }
  })

  test('mention every dependency', () => {
    const all = DECISIONS.map(textOf).join('\n')
    for (const [name] of dependencies) assert.ok(all.includes(`\`${name}\``), name)
  })
})

suite('the dependencies', () => {
  test('have exact versions, in package.json and in the lockfile', () => {
    const locked = JSON.parse(textOf('package-lock.json')) as {
      packages: Record<
        string,
        { version?: string; integrity?: string; optional?: boolean; hasInstallScript?: boolean }
      >
    }
    for (const [name, version] of dependencies) {
      assert.match(version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/, name)
      const found = locked.packages[`node_modules/${name}`]
      assert.equal(found?.version, version, name)
    }
    for (const [path, { integrity, optional, hasInstallScript }] of Object.entries(locked.packages)) {
      if (path === '') continue
      // The lockfile also lists packages for other platforms. npm requires the entries, but does not install them.
      const isOfAnotherPlatform = optional === true && !existsSync(join(ROOT, path))
      assert.ok(integrity !== undefined || isOfAnotherPlatform, `${path} has an integrity`)
      assert.notEqual(hasInstallScript, true, `${path} runs nothing when it is installed`)
    }
  })

  test('are used', () => {
    const sources = [...PRODUCT_SOURCES, ...filesBelow('test'), ...filesBelow('bench')]
      .filter((path) => path.endsWith('.ts'))
      .map(textOf)
      .join('\n')
    for (const name of Object.keys(manifest['dependencies'] ?? {})) {
      assert.ok(sources.includes(`'${name}'`) || sources.includes(`'${name}/`), name)
    }
  })
})

suite('the documents for operators', () => {
  test('name every metric in docs/metrics.md and no other', () => {
    const sources = PRODUCT_SOURCES.filter((path) => path.startsWith('src/')).map(textOf)
    const made = new Set(sources.flatMap((text) => text.match(/(?<=')daybook_[a-z_]+(?=')/g) ?? []))
    const told = new Set(textOf('docs/metrics.md').match(/daybook_[a-z_]+/g) ?? [])
    assert.deepEqual([...told].toSorted(byName), [...made].toSorted(byName))
  })

  test('link every example, and repeat none', () => {
    const pages = DOCUMENTS.filter((path) => path.startsWith('docs/'))
    const linked = new Set(
      pages.flatMap((path) => linksOf(textOf(path)).map((to) => join(dirname(path), to))),
    )
    const examples = FILES.filter((path) => path.startsWith('ops/'))
    assert.ok(examples.length > 5, 'the examples are found')
    assert.deepEqual(
      examples.filter((path) => !linked.has(path)),
      [],
    )
    const languages = new Set(['nginx', 'caddyfile', 'ini', 'yaml', 'yml'])
    const shown = pages.flatMap((path) =>
      blocksOf(textOf(path)).filter(({ language }) => languages.has(language)),
    )
    assert.deepEqual(
      shown.map(({ text }) => text.split('\n')[0]),
      [],
    )
  })

  test('name every option of serve in docs/operating.md', () => {
    const operating = textOf('docs/operating.md')
    assert.ok(SERVE_OPTIONS.length > 10)
    for (const { long } of SERVE_OPTIONS) assert.ok(operating.includes(`\`${long}\``), String(long))
  })
})

suite('ARCHITECTURE.md', () => {
  test('names only files that exist', () => {
    const rooms = ['', 'src/', 'src/publish/', 'src/command/']
    for (const [, path = ''] of textOf('ARCHITECTURE.md').matchAll(/`([a-z-]+(?:\/[a-z-]+)*\.ts)`/g)) {
      assert.ok(
        rooms.some((room) => existsSync(join(ROOT, room, path))),
        path,
      )
    }
  })
})

test('no file of the project names an absolute path of a machine', () => {
  const place = /(?:^|[\s"'`(=])\/(?:home|root|Users|work|opt|mnt)\/\w|[A-Z]:\\\\?Users/m
  const text = FILES.filter((path) => /\.(?:ts|json|md|txt|jsonl)$/.test(path) || path === '.ci/run')
  assert.deepEqual(
    text.filter((path) => place.test(textOf(path))),
    [],
  )
})

test('the lockfile names no registry but the public one', () => {
  const hosts = new Set(textOf('package-lock.json').match(/(?<="resolved": "https?:\/\/)[^/"]+/g) ?? [])
  hosts.delete('registry.npmjs.org')
  assert.deepEqual([...hosts], [])
})

function byName(a: string, b: string): number {
  return a < b ? -1 : 1
}

/** The numbers in a text, without thousands separators. */
function figuresIn(text: string): readonly string[] {
  return (text.match(/\d[\d,]*(?:\.\d+)?/g) ?? []).map((figure) => figure.replaceAll(',', ''))
}

/** The anchors that GitHub gives to the headings of a document. */
function slugsOf(document: string): ReadonlySet<string> {
  const headings = document.matchAll(/^#{1,6} (.*)$/gm)
  const slugs = [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return new Set(slugs)
}
