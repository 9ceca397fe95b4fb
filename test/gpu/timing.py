"""What the scripts that need torch share: medians of CUDA graphs."""

import statistics

import torch


def graph_of(call, sets):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call(*sets[0])
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            # Results are kept: in the memory of the one before they would never leave L2.
            kept = [call(*arguments) for arguments in sets]
        del kept
        graph.replay()
        torch.cuda.synchronize()
    return graph, stream


def times(graphs, repetitions):
    """Medians of the graphs' times in microseconds, in turns."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    samples = [[] for _ in graphs]
    for _ in range(repetitions):
        for (graph, stream), own in zip(graphs, samples):
            with torch.cuda.stream(stream):
                begin.record()
                graph.replay()
                end.record()
            end.synchronize()
            own.append(begin.elapsed_time(end) * 1e3)
    return [statistics.median(own) for own in samples]
