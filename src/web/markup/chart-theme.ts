import type { Parameter } from '../../protocol/parameters.ts'

/** Themes of a picture: light, dark, or the one that the reader's system prefers. */
export const THEMES = ['light', 'dark', 'auto'] as const
export type Theme = (typeof THEMES)[number]

/** Query parameter of pictures and embeds. The API does not have it. */
export const THEME: Parameter = {
  name: 'theme',
  form: { is: 'one-of', values: THEMES },
  absent: 'auto',
  meaning: 'Light or dark paper, or as the system of its reader prefers',
  example: 'dark',
}

type Palette = Readonly<Record<string, string>>

/** Colours of `style/tokens.css` that pictures use; a test compares them. */
export const LIGHT: Palette = {
  paper: '#fbfaf6',
  ink: '#17202b',
  soft: '#525b67',
  edge: '#857d6c',
  hair: '#dfdacd',
  spent: '#2b62a8',
  'spent-words': '#2b62a8',
  paid: '#c65d1e',
  'paid-words': '#a34508',
  burned: '#8b8371',
  'burned-words': '#655e50',
  price: '#6d5aa8',
  'heat-0': '#eef3fa',
  'heat-1': '#c6daf0',
  'heat-2': '#8fb8de',
  'heat-3': '#4a8cc4',
  'heat-4': '#0b57b8',
  'ink-low': '#17202b',
  'ink-3': '#17202b',
  'ink-4': '#fff',
}

export const DARK: Palette = {
  paper: '#13161b',
  ink: '#ebe8e0',
  soft: '#a8afba',
  edge: '#7c8593',
  hair: '#313843',
  spent: '#6ea3e6',
  'spent-words': '#8fbaf2',
  paid: '#e58a4f',
  'paid-words': '#f0a06c',
  burned: '#958d7c',
  'burned-words': '#b8b0a0',
  price: '#ab9ce6',
  'heat-0': '#18222e',
  'heat-1': '#1f3a57',
  'heat-2': '#2b5c8c',
  'heat-3': '#4a8fcc',
  'heat-4': '#8cc4ff',
  'ink-low': '#ebe8e0',
  'ink-3': '#13161b',
  'ink-4': '#13161b',
}

/** Colours of the series, in the order of their styles. */
const SERIES = ['spent', 'paid', 'burned', 'price'] as const

/** Style rules inside a picture, since no style sheet applies to an SVG that is shown as an image. */
export function pictureStyle(theme: Theme): string {
  const light = rules(LIGHT)
  const dark = rules(DARK)
  if (theme === 'light') return SHAPES + light
  if (theme === 'dark') return SHAPES + dark
  return `${SHAPES}${light}@media (prefers-color-scheme:dark){${dark}}`
}

// Plain colours, because renderers outside browsers do not support CSS variables.
function rules(colour: Palette): string {
  return [
    `.bg{fill:${colour['paper']}}`,
    `text,.soft{fill:${colour['soft']}}`,
    `.name,.ink{fill:${colour['ink']}}`,
    `.hair{stroke:${colour['hair']}}`,
    `.axis{stroke:${colour['ink']}}`,
    `.halo{stroke:${colour['paper']}}`,
    ...SERIES.map((name, index) => {
      const words = colour[`${name}-words`] ?? colour[name]
      return `.s${index + 1}{stroke:${colour[name]}}.f${index + 1}{fill:${colour[name]}}.t${index + 1}{fill:${words}}`
    }),
    ...[0, 1, 2, 3, 4].map(
      (step) =>
        `.h${step}{fill:${colour[`heat-${step}`]}}.i${step}{fill:${colour[step < 3 ? 'ink-low' : `ink-${step}`]}}`,
    ),
  ].join('')
}

const SHAPES = [
  'text{font:500 13px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}',
  '.name{font-size:22px;font-weight:700}.x{text-anchor:middle}',
  '.ink,.t1,.t2,.t3,.t4{font-weight:650}.soft{font-weight:500}',
  '.halo{paint-order:stroke;stroke-width:5px;stroke-linejoin:round}',
  '.s1,.s2,.s3,.s4{fill:none;stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}',
  '.area{opacity:.11}.pale{opacity:.45}.dash{stroke-dasharray:3 3}',
].join('')
