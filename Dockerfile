# Holdfast as a server, with its memory in the volume /data. See docs/how-to/run-in-a-container.md.
#   docker build -t holdfast .
#   docker run -d --name holdfast -p 127.0.0.1:4653:4653 -v holdfast:/data holdfast

# An exact version; where you need the same bytes each time, add a digest: --build-arg PYTHON=…@sha256:…
ARG PYTHON=python:3.13.9-slim-bookworm

FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /src
# What changes seldom comes first, so that a change of the source does not install it anew.
COPY container/requirements.txt container/
RUN python -m venv /opt/holdfast \
    && /opt/holdfast/bin/pip install --require-hashes --only-binary :all: -r container/requirements.txt
COPY packages/holdfast-memory-model packages/holdfast-memory-model
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/holdfast/bin/pip install --no-deps --no-build-isolation ./packages/holdfast-memory-model . \
    && /opt/holdfast/bin/pip uninstall --yes hatchling pip \
    && /opt/holdfast/bin/python -m compileall -q /opt/holdfast/lib

FROM ${PYTHON}
# No login, no home, and a number that Kubernetes can check.
RUN groupadd --system --gid 10001 holdfast \
    && useradd --system --uid 10001 --gid holdfast --no-create-home --shell /usr/sbin/nologin holdfast \
    && install --directory --owner=holdfast --group=holdfast --mode=0700 /data
COPY --from=build /opt/holdfast /opt/holdfast
ENV PATH=/opt/holdfast/bin:$PATH \
    HOLDFAST_HOME=/data \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 4653
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:4653/readyz', timeout=4)"]
# Beyond its own machine a server asks for a key: docker exec holdfast holdfast key create laptop
CMD ["holdfast", "serve", "--host", "0.0.0.0", "--port", "4653"]
