import { choose, fill, follow, press, tick } from '../kit/pattern.ts';
import { answeredOn, located, mistaken, moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import { HELDOUT_ONLY, MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { PAGE_SIZE } from '../kit/widgets.ts';
import { pickOne } from '../kit/words.ts';
import { type Issue, LABELS, RESOLUTIONS } from './data.ts';
import { after, DESTRUCTIVE, others, type TrackerTemplate, target } from './target.ts';

export const watchIssue: TrackerTemplate = {
  name: 'watch-issue',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const watch = press('Watch', { near: issue.title, page });
    return {
      instruction: `Watch the issue "${issue.title}".`,
      data,
      dialog: index === 1 ? 'tour' : null,
      solved: after(data, 'watch', { id }),
      moves: [...find, watch],
      subgoals: [
        located(0.3, issue.title, page),
        moved('watched', `pressed Watch for "${issue.title}"`, 0.5, watch),
        stoppedAfter(0.2, watch),
        ...DESTRUCTIVE,
      ],
    };
  },
};

const FACTS = {
  reporter: (issue: Issue) => issue.reporter,
  estimate: (issue: Issue) => issue.estimate,
  component: (issue: Issue) => issue.component,
  key: (issue: Issue) => issue.key,
};

export const readIssue: TrackerTemplate = {
  name: 'read-issue',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { issue, page, find } = target(data, random, index);
    const [fact, read] = pickOne(random, Object.entries(FACTS));
    const value = read(issue);
    return {
      instruction: `What is the ${fact} of the issue "${issue.title}"?`,
      data,
      solved: data,
      answer: { value, distractors: others(data.issues.map(read), value) },
      moves: [...find, follow(issue.title)],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.5, page),
        answeredOn(0.5, page),
        mistaken('Watch', -0.2),
        ...DESTRUCTIVE,
      ],
    };
  },
};

const REMARKS = [
  'I can reproduce it',
  'The fix is in review',
  'Please attach a screenshot',
  'Works for me now',
];

export const commentIssue: TrackerTemplate = {
  name: 'comment-issue',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const comment = pickOne(random, REMARKS);
    const add = press('Add comment');
    return {
      instruction: `Add the comment "${comment}" to the issue "${issue.title}".`,
      data,
      solved: after(data, 'comment', { id, comment }),
      moves: [...find, follow(issue.title), fill('Comment', comment), add],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.3, page),
        moved('wrote', 'wrote the comment', 0.3, fill('Comment', comment)),
        moved('added', 'pressed Add comment', 0.2, add),
        stoppedAfter(0.2, add),
        ...DESTRUCTIVE,
      ],
    };
  },
};

export const closeIssue: TrackerTemplate = {
  name: 'close-issue',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const resolution = pickOne(random, RESOLUTIONS);
    const confirm = press('Confirm');
    return {
      instruction: `Close the issue "${issue.title}" with the resolution "${resolution}".`,
      data,
      solved: after(data, 'close', { id, resolution }),
      moves: [...find, follow(issue.title), press('Close issue'), choose(resolution), confirm],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.2, page),
        moved('asked', 'pressed Close issue', 0.2, press('Close issue', { near: issue.title, page })),
        moved('chose', `chose the resolution ${resolution}`, 0.2, choose(resolution)),
        moved('confirmed', 'pressed Confirm', 0.2, confirm),
        stoppedAfter(0.2, confirm),
        ...DESTRUCTIVE,
      ],
    };
  },
};

export const labelIssue: TrackerTemplate = {
  name: 'label-issue',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const label = pickOne(random, LABELS);
    const save = press('Save labels');
    return {
      instruction: `Add the label "${label}" to the issue "${issue.title}".`,
      data,
      solved: after(data, 'set-labels', { id, label }),
      moves: [...find, follow(issue.title), press('Edit labels'), tick(label), save],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.2, page),
        moved('asked', 'pressed Edit labels', 0.2, press('Edit labels')),
        moved('ticked', `ticked ${label}`, 0.2, tick(label)),
        moved('saved', 'pressed Save labels', 0.2, save),
        stoppedAfter(0.2, save),
        ...DESTRUCTIVE,
      ],
    };
  },
};

export const closeTogether: TrackerTemplate = {
  name: 'close-together',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random) => {
    const open = data.issues.slice(0, PAGE_SIZE).filter(({ status }) => status === 'Open');
    const [first, second] = random.shuffle(open);
    if (first === undefined || second === undefined) throw new Error('too few open issues');
    const ticks = [first, second].map(({ title }) => tick('Select', { near: title }));
    const close = press('Close selected');
    const closed = [first, second].map(({ id }) => id);
    const issues = data.issues.map(
      (issue): Issue =>
        closed.includes(issue.id) ? { ...issue, status: 'Closed', resolution: 'Fixed' } : issue,
    );
    return {
      instruction: `Select the issues "${first.title}" and "${second.title}", and close the selected ones.`,
      data,
      solved: { ...data, issues },
      moves: [...ticks, close],
      subgoals: [
        moved('first', `selected "${first.title}"`, 0.3, ...ticks.slice(0, 1)),
        moved('second', `selected "${second.title}"`, 0.3, ...ticks.slice(1)),
        moved('closed', 'pressed Close selected', 0.2, close),
        stoppedAfter(0.2, close),
        ...DESTRUCTIVE,
      ],
    };
  },
};

export const markDuplicate: TrackerTemplate = {
  name: 'mark-duplicate',
  difficulty: 'medium',
  splits: HELDOUT_ONLY,
  instantiate: (data, random, index) => {
    const { issue, id, page, find } = target(data, random, index);
    const original = pickOne(
      random,
      others(
        data.issues.map(({ key }) => key),
        issue.key,
      ),
    );
    const confirm = press('Confirm');
    return {
      instruction: `Mark the issue "${issue.title}" as a duplicate of the original issue "${original}".`,
      data,
      solved: after(data, 'mark-duplicate', { id, original }),
      moves: [
        ...find,
        follow(issue.title),
        press('Mark as duplicate'),
        fill('Original issue', original),
        confirm,
      ],
      subgoals: [
        opened('opened', `opened "${issue.title}"`, 0.2, page),
        moved('asked', 'pressed Mark as duplicate', 0.2, press('Mark as duplicate')),
        moved('typed', 'entered the original issue', 0.2, fill('Original issue', original)),
        moved('confirmed', 'pressed Confirm', 0.2, confirm),
        stoppedAfter(0.2, confirm),
        ...DESTRUCTIVE,
      ],
    };
  },
};
