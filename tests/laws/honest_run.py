"""Print how far expected errors are from those on new rows.

Run it from the folder ``tests``, for example

    python -m laws.honest_run --models "table quick" --kinds cells ratings --seeds 20
    python -m laws.honest_run --models table --n 12 40 2000 --first-seed 20

Names are parts of names. Each line is one kind, model and number of rows.
"""

import argparse

import numpy as np
from laws.honest_laws import biases, chosen_kinds, trial
from laws.honest_models import MODELS, ORACLES


def main(arguments: list[str] | None = None) -> None:
    """Print a table of trials."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", default=["table quick", "table classes quick"])
    parser.add_argument("--kinds", nargs="*", default=[""])
    parser.add_argument("--n", nargs="*", type=int)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args(arguments)
    print(
        f"{'kind':32} {'model':22} {'n':>6} {'score':>8} {'fresh':>8} {'bias %':>7} {'z':>6} "
        f"{'coverage':>16} {'s':>6}  large",
        flush=True,
    )
    models = {**MODELS, **ORACLES}
    for name, model in models.items():
        if not any(part in name for part in options.models):
            continue
        for kind in chosen_kinds(model):
            if not any(part in kind.name for part in options.kinds):
                continue
            for n in options.n or [min(kind.n, model.most_rows)]:
                seeds = range(options.first_seed, options.first_seed + options.seeds)
                try:
                    trials = [trial(kind, model, seed, n) for seed in seeds]
                except Exception as error:  # Further kinds are of interest, too
                    print(f"{kind.name:32} {name:22} {n:6} {type(error).__name__}: {error}")
                    continue
                print(line(kind, name, model, trials, n), flush=True)


def line(kind, name, model, trials, n) -> str:
    """Return a line of the table: root mean squares for numbers, log losses for classes."""
    score, fresh = (np.array([getattr(t, key) for t in trials]) for key in ("score", "fresh"))
    each = score - fresh
    error = each.std(ddof=1) / np.sqrt(len(each))
    shown = np.sqrt if kind.task == "numbers" else float
    covered = [f"{100 * np.mean([t.coverage[k] for t in trials]):.1f}" for k in trials[0].coverage]
    large = [f"{b.law} {b.mean:+.3g}" for b in biases(kind, model, trials, n) if b.is_large]
    return (
        f"{kind.name:32} {name:22} {n:6} {shown(score.mean()):8.4f} {shown(fresh.mean()):8.4f} "
        f"{100 * each.mean() / fresh.mean():7.1f} {each.mean() / max(error, 1e-12):6.1f} "
        f"{' '.join(covered):>16} {np.mean([t.seconds for t in trials]):6.2f}  {'; '.join(large)}"
    )


if __name__ == "__main__":
    main()
