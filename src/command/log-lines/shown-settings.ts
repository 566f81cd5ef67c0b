import type { Command, Option } from 'commander'

type Shown = string | number | boolean

/** Options whose text is shown as it is. Numbers and switches always are. */
const PLAIN: ReadonlySet<string> = new Set([
  'balances',
  'chain',
  'contact',
  'data',
  'host',
  'key-file',
  'licence',
  'log-level',
  'name',
  'ops-host',
  'origin',
  'origin-url',
  'public-url',
  'publish-host',
  'publish-token-file',
  'rate-limit',
  'signing-key-file',
  'site-name',
  'token',
  'trust-proxy',
])

/** Forms in which options are shown whose value may hold a secret, by name: the part that has none. */
export type ShownForms = Readonly<Record<string, (text: string) => string>>

/** Shown for an option that is in no table, such as `--finality-amounts`, whose accounts are private. */
const GIVEN = 'given'

/** Options of a command that are in effect, by name, without secrets: for a log line. */
export function shownSettings(command: Command, forms: ShownForms): Readonly<Record<string, Shown>> {
  const shown: Record<string, Shown> = {}
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName())
    const isEmpty = Array.isArray(value) && value.length === 0
    if (value !== undefined && !isEmpty) shown[nameOf(option)] = shownValue(nameOf(option), value, forms)
  }
  return shown
}

function nameOf({ long }: Option): string {
  return (long ?? '').replace(/^--/, '')
}

function shownValue(name: string, value: unknown, forms: ShownForms): Shown {
  const form = forms[name]
  if (form !== undefined) return form(String(value))
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return PLAIN.has(name) ? String(value) : GIVEN
}
