/** What an editor shows for the keys of a Workfile. A key that the grammar has and this table has not fails a test. */
import type { Words } from "../../../text/schema.ts";
import type { Modifier, Subject } from "../tables.ts";

export const TOP_WORDS: { readonly [key: string]: Words } = {
  workfile: { description: 'The version of the format: "1", in quotes.' },
  name: { description: "What runs of this workflow are called.", examples: ["triage"] },
  description: { description: "What the workflow is for, for people." },
  inputs: {
    description: "What a run is given; read as inputs.NAME. A type alone means: required.",
    examples: [{ sender: "string", limit: { type: "integer", min: 1, default: 10 } }],
  },
  consts: { description: "Literal values, read as consts.NAME." },
  triggers: { description: "Schedules and webhooks that start runs.", examples: [[{ schedule: { every: "30m" } }]] },
  on: { description: "Another word for triggers." },
  single: { description: "One run per value of this text at a time.", examples: ["{{ inputs.sender }}"] },
  overlap: { description: "What `single` does with a further start: skip it (default), or let it wait its turn." },
  limits: { description: "Bounds of a run. They may only lower those of the deployment." },
  steps: { description: "What is done, in this order: a list of maps with one key each, the step's id." },
  outputs: { description: "What the run gives: names with values.", examples: [{ id: "{{ find.id }}" }] },
  cleanup: { description: "Steps at the end of the run, whatever its outcome; `on: failure` for a failed run." },
};

export const LIMIT_WORDS: { readonly [key: string]: Words } = {
  deadline: { description: "Longest duration of a run, without the time that it is parked.", examples: ["10m"] },
  steps: { description: "Most executions of steps, iterations included." },
  depth: { description: "Most files below each other by wf.call." },
  concurrency: { description: "Most things at once in one wf.each, wf.parallel or turn of an agent." },
};

export const TRIGGER_WORDS: { readonly [key: string]: Words } = {
  schedule: { description: "Starts runs at times." },
  webhook: { description: "Starts a run for each signed request." },
  every: { description: "Time between two runs.", examples: ["30m"] },
  cron: { description: "Minute, hour, day, month and weekday.", examples: ["0 7 * * 1-5"] },
  zone: { description: "The time zone of cron; UTC by default.", examples: ["Europe/Paris"] },
  when: { description: "No run starts where this is false." },
  with: { description: "The inputs of the run; `trigger` can be read." },
  path: { description: "Served as POST /hooks/PATH.", examples: ["/triage"] },
  body: { description: "Declares the request's body; what is not declared is dropped." },
  headers: { description: 'Headers that `when` and `with` read as headers["x-source"], in lower case.' },
  reply: { description: "accepted: answer at once with the run's id. outputs: wait for the run, up to 30 s." },
};

export const FIELD_WORDS: { readonly [key: string]: Words } = {
  type: { description: "The kind of the value." },
  required: { description: "Whether it must be given; false by default." },
  default: { description: "The value where none is given." },
  description: { description: "What the value is, for people and agents." },
  enum: { description: "The values there are." },
  pattern: { description: "A regular expression (RE2) that a text must match." },
  min: { description: "The least number, characters of a text, or elements of a list." },
  max: { description: "The most: number, characters of a text, or elements of a list." },
  items: { description: "Declares each element of a list." },
  fields: { description: "Declares the fields of an object, which has no others then." },
  sensitive: { description: "Hides the value in history and output." },
};

export const SUBJECT_WORDS: { readonly [S in Subject]: Words } = {
  action: {
    title: "Call an action",
    description: "connector.action with its arguments; its output is the value of the step.",
    examples: [{ "crm.search": { query: "{{ inputs.sender }}" } }],
  },
  agent: {
    title: "Ask an agent",
    description: "The agent of this name in the deployment works towards the goal with the tools listed.",
    examples: [
      {
        "wf.agent": "triage",
        goal: "Find the account.",
        tools: ["crm.search"],
        returns: { id: "string" },
        budget: { steps: 8 },
      },
    ],
  },
  code: {
    title: "Run code",
    description: "Inline code in a sandbox; what it returns is the value of the step.",
    examples: [{ "wf.run": "python", code: "return {'n': 1}\n" }],
  },
  let: { title: "Name values", description: "A map of values, read as ID.NAME.", examples: [{ "wf.let": { n: 1 } }] },
  if: {
    title: "Branch",
    description: "One of two lists of steps; the value is that of its last step.",
    examples: [{ "wf.if": "{{ inputs.sure }}", else: [] }],
  },
  switch: {
    title: "Choose",
    description: "The list of steps whose name is the value.",
    examples: [{ "wf.switch": "{{ inputs.kind }}", cases: { good: [] }, default: [] }],
  },
  each: {
    title: "For each item",
    description: "The steps once for each item of a list.",
    examples: [{ "wf.each": "{{ inputs.list }}", max: 50, steps: [] }],
  },
  repeat: {
    title: "Repeat",
    description: "The steps again and again, at most `max` times.",
    examples: [{ "wf.repeat": { max: 10 }, until: "{{ look.done }}", steps: [] }],
  },
  parallel: {
    title: "Side by side",
    description: "Lists of steps by the name of their branch.",
    examples: [{ "wf.parallel": { left: [], right: [] } }],
  },
  call: {
    title: "Call a file",
    description: "Another workflow, by its path relative to this one.",
    examples: [{ "wf.call": "./other.workfile.yaml", with: {} }],
  },
  wait: { title: "Wait", description: "A duration, or until a time.", examples: [{ "wf.wait": "30s" }] },
  ask: { title: "Ask a person", description: "A question with a typed answer.", examples: [{ "wf.ask": "Pay?" }] },
  notify: { title: "Notify", description: "A text in the trace of the run.", examples: [{ "wf.notify": "Done." }] },
  stop: { title: "Stop", description: "Ends the run here; with outputs, or null.", examples: [{ "wf.stop": null }] },
  fail: {
    title: "Fail",
    description: "Ends the run with a code of its author.",
    examples: [{ "wf.fail": { code: "trip.refused", message: "Nobody agreed." } }],
  },
};

export const CONFIG_WORDS: { readonly [S in Subject]?: { readonly [key: string]: Words } } = {
  agent: {
    goal: { description: "What the agent is to do. Names of `with` are not read here." },
    with: { description: "All that the agent sees of the run, beside its goal." },
    tools: { description: "The actions that the agent may call; none without this." },
    returns: { description: "Declares the result.", examples: [{ account_id: "string" }] },
    budget: { description: "Bounds of the agent's work: at least one.", examples: [{ steps: 8, tokens: 20000 }] },
    on_exhausted: { description: "Steps for the case that the budget is spent; the step fails all the same." },
  },
  code: {
    code: { description: "The code itself, begun with |. It reads the run as ctx." },
    network: { description: "Hosts that the code may reach.", examples: [["api.example.org"]] },
    with: { description: "Sensitive values that ctx shall hold, by new names." },
  },
  if: {
    // biome-ignore lint/suspicious/noThenProperty: a key of the grammar
    then: { description: "Steps where it is true." },
    else: { description: "Steps where it is false." },
  },
  switch: {
    cases: { description: "Lists of steps by the text of the value." },
    default: { description: "Steps for any other value; may be []." },
  },
  each: {
    as: { description: "What the item is called; item by default." },
    steps: { description: "Steps for each item; they read the item and index." },
    max: { description: "Most items; further ones are left out and marked." },
    concurrency: { description: "Items at once; 1 by default." },
    until: { description: "Tested after each item; true ends the loop." },
    yield: { description: "What an item gives; the value of its last step by default." },
    on_item_failure: { description: "fail (default), skip, or { yield: VALUE } in place of a failed item." },
  },
  repeat: {
    until: { description: "Tested after a round; true ends the loop." },
    while: { description: "Tested before a round; false ends the loop." },
    steps: { description: "Steps of a round; they read index and prev." },
    yield: { description: "What a round gives and the next one reads as prev." },
    on_max: { description: "fail (default), or truncate: the last value, marked." },
  },
  parallel: {
    concurrency: { description: "Branches at once; 8 by default." },
  },
  call: {
    with: { description: "The inputs of the other workflow." },
  },
  ask: {
    returns: { description: "Declares the answer; { approved: boolean } by default. Defaults may be expressions." },
    expires: { description: "How long the question stands.", examples: ["2h"] },
    on_expired: { description: "Steps once the question has expired; then the step fails." },
    asked: { description: "Steps once the question stands; they read ask.id and ask.url." },
    assignees: { description: "Who is told." },
    approvers: { description: "Who may answer, and how many have to agree." },
  },
};

export const MODIFIER_WORDS: { readonly [M in Modifier]: Words } = {
  if: { description: "The step is skipped where this is false.", examples: ["{{ find.id != null }}"] },
  timeout: { description: "Longest duration of the step.", examples: ["30s"] },
  retry: { description: "Fewer attempts or a longer pause than the manifest has.", examples: [{ attempts: 2 }] },
  catch: { description: "Handlers of a failure; the first that fits counts." },
  on_unknown: { description: "What happens where nobody knows whether an effect took place." },
  reconcile: { description: "A reading action that tells whether an effect took place." },
  cleanup: { description: "Steps that are due once this step has started." },
};
